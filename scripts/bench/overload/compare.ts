import { openServices } from '../../../src/services.ts'
import { indexNames } from '../../../src/stores/opensearch/index-names.ts'
import type { BenchContext } from '../context.ts'
import { createGenerator, type LoadRequest } from '../measuring/generator.ts'
import { startApi } from '../measuring/running-api.ts'
import { checkAnswers, pageIds } from '../orders/check.ts'
import { loadDocuments } from '../orders/loader.ts'
import { issueKeys, pageRequests } from '../orders/pages.ts'
import { describeOverload } from './report.ts'
import { measureOverload, type OverloadSample } from './round.ts'
import { measureShedCost, type ShedCost } from './shed-cost.ts'

export interface OverloadComparison {
  /** What is asked for. */
  case: string
  shed: ShedCost
  /** One a round. */
  samples: OverloadSample[]
}

const CASE = 'small created 20'
const CHECKING_CONNECTIONS = 8
/** OpenSearch compiles what it does often; without this the ceiling would rise from round to round. */
const WARM_UP_MS = 20_000

/** What is left of the service when three times as much is asked of it as it can do. */
export async function compareOverload(context: BenchContext): Promise<OverloadComparison> {
  const { cluster, config, options, orders, settings, signal, log } = context
  const index = indexNames(config.indexPrefix).orders
  const services = await openServices(config)
  try {
    await services.initialize()
    log(`loading ${orders.count} orders …`)
    await loadDocuments(orders.bulkLines(), { client: cluster.client, index, signal })
    await cluster.settle(index)
    const requests = await preparePages(context, services)

    const samples: OverloadSample[] = []
    while (samples.length < options.rounds) {
      const sample = await measureOverload({ settings, requests, seconds: options.seconds, signal })
      samples.push(sample)
      log(`round ${samples.length}/${options.rounds}: ${describeOverload(sample)}`)
    }
    const [request] = requests
    if (!request) throw new Error(`there is no page of ${CASE}`)
    const shedding = { settings, request, connections: options.connections, signal }
    log('shedding and nothing else …')
    const shed = await measureShedCost({ ...shedding, seconds: options.seconds })
    return { case: CASE, shed, samples }
  } finally {
    await services.close()
  }
}

/** The requests of all pages, each held against the orders that it should have. */
async function preparePages(
  { cases, settings, signal, log }: BenchContext,
  services: Awaited<ReturnType<typeof openServices>>,
): Promise<LoadRequest[]> {
  const one = cases.find(({ name }) => name === CASE)
  if (!one) throw new Error(`there is no case ${CASE}`)
  const keys = await issueKeys([one], services)
  const api = await startApi(settings)
  const generator = createGenerator({ origins: [api.origin] }, CHECKING_CONNECTIONS)
  try {
    const requests = await pageRequests(one, { generator, keys, signal })
    const check = { generator, requests, of: one, size: one.limit, readIds: pageIds, signal }
    const checked = await checkAnswers(check)
    log('warming up …')
    await generator.run(checked, WARM_UP_MS, signal)
    return checked
  } finally {
    await generator.close()
    await api.stop()
  }
}
