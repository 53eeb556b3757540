import { startFaultServer } from '../support/http/fault-server.ts'

/** Another server, without orders: a redirect must not send the key there. */
export async function startElsewhere() {
  const unused = 'http://127.0.0.1'
  const server = await startFaultServer(unused, () => ({ status: 404, body: 'nothing is here' }))

  return {
    /** The redirect to this server. */
    redirect: { status: 302, headers: { location: `${server.baseUrl}/v1/orders` } },
    /** The header of each received request, `undefined` when absent. */
    authorizations: () => server.requests.map(({ headers }) => headers.authorization),
    forget: server.forget,
    close: server.close,
  }
}

export type Elsewhere = Awaited<ReturnType<typeof startElsewhere>>
