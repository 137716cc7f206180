// The example of the README: two prompts in one session, the progress as it streams.
//   ACPD_ADDRESS=127.0.0.1:7420 node example.mjs
import grpc from '@grpc/grpc-js';
import protoLoader from '@grpc/proto-loader';

const proto = protoLoader.loadSync('acpd/v1/session_service.proto', {
  includeDirs: [new URL('../../../proto', import.meta.url).pathname],
  keepCase: true, longs: String, enums: String, oneofs: true,
});
const { SessionService } = grpc.loadPackageDefinition(proto).acpd.v1;
const address = process.env.ACPD_ADDRESS ?? '127.0.0.1:7420';
const acpd = new SessionService(address, grpc.credentials.createInsecure());

async function chat(request) {
  let sessionId;
  for await (const event of acpd.ChatStream({ chat: request })) {
    if (event.chat_accepted) sessionId = event.chat_accepted.response.session_id;
    if (event.session_update) process.stdout.write(event.session_update.text ?? '');
    if (event.turn_ended) console.log(`\n[${event.turn_ended.result.outcome}]`);
  }
  return sessionId;
}

const session_id = await chat({ project_id: 'shop', prompt: 'remember the number 42' });
await chat({ project_id: 'shop', session_id, prompt: 'what number did I say?' });
acpd.close();
