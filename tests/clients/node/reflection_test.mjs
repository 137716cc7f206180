// A client without the proto files: everything it knows comes from gRPC reflection (v1alpha).
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import grpc from '@grpc/grpc-js';
import { GrpcReflection } from 'grpc-js-reflection-client';
import { call } from './client.mjs';
import { Daemon } from './daemon.mjs';

const service = 'acpd.v1.SessionService';
let daemon;
let reflection;
before(async () => {
  daemon = await Daemon.start();
  reflection = new GrpcReflection(daemon.address, grpc.credentials.createInsecure(), {}, 'v1alpha');
});
after(async () => {
  await daemon?.stop();
});

test('lists the services and the methods', async () => {
  const services = await reflection.listServices();
  assert.ok(services.includes(service), String(services));
  assert.ok(services.includes('grpc.health.v1.Health'), String(services));
  const methods = (await reflection.listMethods(service)).map((method) => method.name);
  for (const name of ['Chat', 'Cancel', 'SubscribeProgress']) {
    assert.ok(methods.includes(name), String(methods));
  }
});

test('calls Chat', async () => {
  const descriptor = await reflection.getDescriptorBySymbol(service);
  const { acpd } = descriptor.getPackageObject({ keepCase: true, enums: String, longs: String });
  const client = new acpd.v1.SessionService(daemon.address, grpc.credentials.createInsecure());
  try {
    const answer = await call(client, 'Chat', {
      project_id: 'reflected', prompt: 'remember the number 42', wait_for: 'WAIT_FOR_FINISHED',
    });
    assert.equal(answer.state, 'TURN_STATE_ENDED');
    assert.equal(answer.result.outcome, 'OUTCOME_COMPLETED');
  } finally {
    client.close();
  }
});
