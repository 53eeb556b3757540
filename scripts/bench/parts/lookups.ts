import { noFilters, type OrderFilters } from '../../../src/orders/filters/filters.ts'
import type { LookupColumn } from '../../../src/orders/lookups.ts'
import { type Sort, sorts } from '../../../src/orders/order-store.ts'
import type { Settings } from '../../../test/harness/processes/service.ts'
import { percentile, sum } from '../../../test/harness/statistics.ts'
import type { BenchContext, Part } from '../context.ts'
import type { LoadRequest } from '../measuring/load.ts'
import { type Case, type Place, shortSort } from '../orders/cases.ts'
import { type FilteredOrder, filteredListing, filteredOrders } from '../orders/filtered.ts'
import { accessTo, checkedRequests, openService, type PageSource } from '../orders/pages.ts'
import { fillEmbedded, fillServiceIndex, openEmbedded } from '../orders/stores.ts'
import { formatRatio, type Result, ratioOf, type Sample, type Section } from '../report.ts'

const LIMIT = 20
/** A listing's first page, and one in its middle. */
const depths = { first: 0, deep: 0.5 } as const
/** Each filter has so many values, since a page's cost depends on them. */
const VARIANTS = 24
const MAX_VALUES = 20
const DAY_MS = 86_400_000
const ALL = 'all'
const TARGET = 1.5
const FIGURES = ['p50Ms', 'meanMs'] as const

/** The measured filters by name, and the values of one variant. */
type Variant = (at: number) => Partial<OrderFilters>

/**
 * A page of the largest account through each filter by text or by payment, against the page
 * without filters. One request at a time, so a latency includes no queue.
 */
export const lookupsPart: Part = {
  name: 'lookups',
  about: 'a page through each filter by product, customer or payment, against an unfiltered page',
  async measure(shared, scope) {
    const { options, orders, settings } = shared
    const context = { ...shared, options: { ...options, connections: 1 } }
    const [account] = orders.accounts
    if (account === undefined) throw new Error('there is no account')
    const rows = filteredOrders(orders, account.id)
    const cases = createFilterCases(account.id, rows)

    const open = async (name: string, own: Settings, services: Parameters<typeof accessTo>[1]) => {
      const access = await accessTo([account.id], services)
      return await openService(context, { name, settings: own, access }, scope)
    }
    const embedded = await openEmbedded(settings, scope)
    await fillEmbedded(embedded.services, context)
    const { services } = await fillServiceIndex(context, scope)
    const stores = [
      await open('embedded', embedded.settings, embedded.services),
      await open('OpenSearch', settings, services),
    ]
    const sections: Section[] = []
    for (const store of stores) sections.push(await measureStore(context, store, cases))
    const recorded = stores.flatMap(({ name }, at) =>
      worstRatios(name, sections[at]?.results ?? []),
    )
    return { sections, recorded: { costs: Object.fromEntries(recorded) } }
  },
}

/** The pages of one sort and depth: of the account without filters, and through each filter. */
interface FilterCase {
  name: string
  contenders: Case[]
}

/** Both sorts, at each depth. */
function createFilterCases(accountId: string, rows: readonly FilteredOrder[]): FilterCase[] {
  const filters = Object.entries(measuredFilters(rows))
  return sorts.flatMap((sort) => {
    const listings = filters.map(([name, variant]) => {
      return { name, listed: listingsOf(rows, sort, variant) }
    })
    return Object.entries(depths).map(([depth, share]) => ({
      name: `${shortSort(sort)} ${depth}`,
      contenders: listings.map(({ name, listed }): Case => {
        const places = listed.map(({ filters, listing }): Place => {
          return { accountId, sort, filters, listing, row: Math.floor(share * listing.size) }
        })
        return { name, limit: LIMIT, places }
      }),
    }))
  })
}

function listingsOf(rows: readonly FilteredOrder[], sort: Sort, variant: Variant) {
  return Array.from({ length: VARIANTS }, (_, at) => {
    const filters = { ...noFilters, ...variant(at) }
    return { filters, listing: filteredListing(rows, sort, filters) }
  })
}

/** Values of the orders' own, so each page has orders unless a combination has none. */
function measuredFilters(rows: readonly FilteredOrder[]): Record<string, Variant> {
  const valuesOf = (column: LookupColumn) => [
    ...new Set(rows.flatMap(({ lookups }) => lookups[column])),
  ]
  const [products, emails, documents] = (
    ['product_ids', 'customer_email', 'customer_document'] as const
  ).map(valuesOf)
  const some = (values: readonly string[] = [], at: number, count = 1) =>
    Array.from({ length: count }, (_, next) => values[(at * count + next) % values.length] ?? '')
  const paidAts = rows.flatMap(({ paidAt }) => paidAt ?? [])
  const oldest = Math.min(...paidAts)
  const newest = Math.max(...paidAts)
  const days = (count: number, at: number) => {
    const gte = oldest + Math.floor(((newest - oldest - count * DAY_MS) * at) / (VARIANTS - 1))
    return { paid: { gte, lt: gte + count * DAY_MS } }
  }
  const product = (at: number) => ({ productIds: some(products, at) })
  return {
    [ALL]: () => ({}),
    product,
    [`${MAX_VALUES} products`]: (at) => ({ productIds: some(products, at, MAX_VALUES) }),
    'e-mail': (at) => ({ customerEmails: some(emails, at) }),
    [`${MAX_VALUES} e-mails`]: (at) => ({ customerEmails: some(emails, at, MAX_VALUES) }),
    document: (at) => ({ customerDocuments: some(documents, at) }),
    'month of payments': (at) => days(30, at),
    'year of payments': (at) => days(365, at),
    'product, month of payments': (at) => ({ ...product(at), ...days(30, at) }),
    'product, year of payments': (at) => ({ ...product(at), ...days(365, at) }),
    'e-mail, product': (at) => ({ ...product(at), customerEmails: some(emails, at) }),
  }
}

async function measureStore(
  context: BenchContext,
  source: PageSource,
  cases: readonly FilterCase[],
): Promise<Section> {
  const { log, options } = context
  const results: Result[] = []
  for (const { name, contenders } of cases) {
    const checked = []
    for (const of of contenders) {
      checked.push({ name: of.name, requests: await checkedRequests(context, source, of) })
    }
    const samples: Record<string, Sample[]> = {}
    for (let round = 1; round <= options.rounds; round += 1) {
      const measured = await measureInTurn(context, source, checked)
      for (const [of, sample] of measured) samples[of] = [...(samples[of] ?? []), sample]
      log(`round ${round}/${options.rounds}  ${name}, ${source.name}`)
    }
    results.push({ name, samples })
  }
  const missed = worstRatios(source.name, results).filter(([, ratio]) => ratio > TARGET)
  return {
    title: `Pages of ${LIMIT} through filters, ${source.name}; ${VARIANTS} values of each filter`,
    results,
    base: ALL,
    notes: missed.map(([name, ratio]) => `above ${TARGET}: ${name} ${formatRatio(ratio)}`),
  }
}

/** Sends a request of each contender in turn, so a disturbance affects all of them alike. */
async function measureInTurn(
  { options, signal }: BenchContext,
  { client }: PageSource,
  contenders: readonly { name: string; requests: readonly LoadRequest[] }[],
): Promise<[string, Sample][]> {
  const took = contenders.map((): number[] => [])
  const endsAt = performance.now() + 1000 * options.seconds
  for (let turn = 0; performance.now() < endsAt; turn += 1) {
    for (const [at, { requests }] of contenders.entries()) {
      signal.throwIfAborted()
      const request = requests[turn % requests.length]
      if (request === undefined) throw new Error('there is no request to send')
      const startedAt = performance.now()
      await client.fetch(request)
      took[at]?.push(performance.now() - startedAt)
    }
  }
  return contenders.map(({ name }, at) => {
    const ms = Float64Array.from(took[at] ?? []).sort()
    return [
      name,
      { answers: ms.length, p50Ms: percentile(ms, 0.5), meanMs: sum([...ms]) / ms.length },
    ]
  })
}

/** The ratio of each filter to the page without filters: the worst of all sorts and depths. */
function worstRatios(store: string, results: readonly Result[]): [string, number][] {
  const names = Object.keys(results[0]?.samples ?? {}).filter((name) => name !== ALL)
  return names.flatMap((of) =>
    FIGURES.map((figure): [string, number] => {
      const ratios = results.map((result) => ratioOf(result, { of, per: ALL, figure }))
      return [`${figure.replace('Ms', '')} ${of}÷all ${store}`, Math.max(...ratios)]
    }),
  )
}
