// A client with the API loaded from the proto file, and its calls as promises.
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import grpc from '@grpc/grpc-js';
import protoLoader from '@grpc/proto-loader';

const protoDir = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '../../../proto');

// `service`: SessionService, or AdminService.
export function connect(address, service = 'SessionService') {
  const definition = protoLoader.loadSync('acpd/v1/admin_service.proto', {
    includeDirs: [protoDir],
    keepCase: true,
    longs: String,
    enums: String,
    defaults: true,
    oneofs: true,
  });
  const { acpd } = grpc.loadPackageDefinition(definition);
  return new acpd.v1[service](address, grpc.credentials.createInsecure());
}

// Calls a unary method; rejects with the gRPC error, which has `code` and `metadata`.
export function call(client, method, request, seconds = 30) {
  return new Promise((resolve, reject) => {
    const deadline = new Date(Date.now() + seconds * 1000);
    client[method](request, { deadline }, (error, answer) => (error ? reject(error) : resolve(answer)));
  });
}

// Reads a stream to its end.
export async function readAll(stream) {
  const events = [];
  for await (const event of stream) events.push(event);
  return events;
}

export const deadlineIn = (seconds) => ({ deadline: new Date(Date.now() + seconds * 1000) });
