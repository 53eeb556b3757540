import type { RunningApi } from '../../../test/harness/processes/service.ts'
import { startHaproxy } from '../../../test/harness/services/haproxy.ts'
import type { BenchContext } from '../context.ts'
import { createLoadClient } from '../measuring/load.ts'
import type { PageSource } from './pages.ts'

/** More than a run sends or opens from its one address. */
const UNLIMITED = '1000000000'

/** The same pages through HAProxy, with the configuration of `docker/edge` and TLS. */
export async function throughEdge<S extends PageSource>(
  { options }: Pick<BenchContext, 'options'>,
  source: S,
  servers: readonly RunningApi[],
  scope: AsyncDisposableStack,
): Promise<S> {
  const { httpsPort, ca, stop } = await startHaproxy({
    processes: servers.map(({ origin, operationsPort }) => {
      return { port: Number(new URL(origin).port), operationsPort }
    }),
    settings: {
      EDGE_REFUSE_LOCALHOST: 'no',
      EDGE_VOLUME_REQUESTS: UNLIMITED,
      EDGE_CONNECTIONS_PER_ADDRESS: UNLIMITED,
    },
  })
  scope.defer(stop)
  const target = { origins: [`https://127.0.0.1:${httpsPort}`], ca }
  return { ...source, client: scope.use(createLoadClient(target, options.connections)) }
}
