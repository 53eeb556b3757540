import type { Endpoint } from '../../../src/webhooks/endpoints/endpoint.ts'

/** An enabled endpoint of `acc_1` for every type of event, without a success or failure yet. */
export function endpoint(changes: Partial<Endpoint> = {}): Endpoint {
  return {
    id: `we_${'1'.repeat(32)}`,
    accountId: 'acc_1',
    url: 'https://receiver.example/hooks',
    events: null,
    payload: 'full',
    description: null,
    disabledReason: null,
    createdAt: 1_000,
    startsAt: 6_000,
    secret: { kid: 'k1', generation: 1 },
    previousSecret: null,
    failingSince: null,
    lastSuccessAt: null,
    isBreakerOpen: false,
    noticesSent: 0,
    deletedAt: null,
    ...changes,
  }
}
