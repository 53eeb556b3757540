type Route = readonly [method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE', path: string]

const ACCOUNT = '/accounts/acc_1'
const ENDPOINT = `${ACCOUNT}/webhook-endpoints/we_1`

/** Every route that reads. */
export const reads: readonly Route[] = [
  ['GET', '/audit'],
  ['GET', `${ACCOUNT}/keys`],
  ['GET', `${ACCOUNT}/block`],
  ['GET', `${ACCOUNT}/usage`],
  ['GET', `${ACCOUNT}/webhook-endpoints`],
  ['GET', ENDPOINT],
  ['GET', `${ENDPOINT}/deliveries`],
  ['GET', `${ACCOUNT}/deliveries/dlv_1`],
  ['GET', '/sandbox-scenarios'],
  ['GET', `${ACCOUNT}/sandbox-orders`],
]

/** Every POST that an `Idempotency-Key` protects. */
export const posts: readonly Route[] = [
  ['POST', `${ACCOUNT}/keys`],
  ['POST', `${ACCOUNT}/keys/key_1/roll`],
  ['POST', `${ACCOUNT}/keys/key_1/revoke`],
  ['POST', `${ACCOUNT}/webhook-endpoints`],
  ...['enable', 'disable', 'roll-secret', 'test', 'replay'].map(
    (action) => ['POST', `${ENDPOINT}/${action}`] as const,
  ),
  ['POST', `${ACCOUNT}/deliveries/dlv_1/resend`],
  ['POST', `${ACCOUNT}/sessions`],
  ['POST', `${ACCOUNT}/sandbox-orders`],
  ['POST', `${ACCOUNT}/sandbox-orders/ord_test_1/pay`],
]

/** Every route that changes something. */
export const changes: readonly Route[] = [
  ...posts,
  ['POST', '/source-orders'],
  ['PUT', `${ACCOUNT}/block`],
  ['DELETE', `${ACCOUNT}/block`],
  ['PATCH', ENDPOINT],
  ['DELETE', ENDPOINT],
]

export const bearerOf = (token: string) => ({ authorization: `Bearer ${token}` })
