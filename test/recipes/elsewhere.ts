import { startFaultServer } from '../support/http/fault-server.ts'

/** Another server, which has no orders: where a redirect must not take the key. */
export async function startElsewhere() {
  const nobody = 'http://127.0.0.1'
  const server = await startFaultServer(nobody, () => ({ status: 404, body: 'nothing is here' }))

  return {
    /** What sends a recipe there. */
    redirect: { status: 302, headers: { location: `${server.baseUrl}/v1/orders` } },
    /** The header of each request that came, `undefined` where it had none. */
    authorizations: () => server.requests.map(({ headers }) => headers.authorization),
    forget: server.forget,
    close: server.close,
  }
}

export type Elsewhere = Awaited<ReturnType<typeof startElsewhere>>
