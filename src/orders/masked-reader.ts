import { digestOf } from '../lib/digest.ts'
import { InvalidParamError } from '../lib/errors/invalid-param-error.ts'
import { orderFilters } from './filters/filter-table.ts'
import { paramsOf } from './filters/filter-types.ts'
import type { RawQuery } from './list-params.ts'
import { maskOrder } from './mask-order.ts'
import type { OrderReader } from './order-store.ts'

/** The orders of a store without personal data, for keys with the scope `orders:read_masked`. */
export function createMaskedReader(orders: OrderReader): OrderReader {
  return {
    async findPage(query, scope) {
      const rows = await orders.findPage(query, scope)
      return rows.map(({ key, id, json }) => {
        const masked = maskOrder(id, json)
        // The stored tag derives from the whole order, and would confirm a guess.
        return { key, id, json: masked, tag: digestOf(masked) }
      })
    },
    async get(accountId, id, scope) {
      const json = await orders.get(accountId, id, scope)
      return json && maskOrder(id, json)
    },
    latestWrite: (accountId, scope) => orders.latestWrite(accountId, scope),
  }
}

const personalParams = Object.values(orderFilters)
  .filter(({ isPersonal }) => isPersonal)
  .flatMap(paramsOf)
  .map(({ param }) => param)

/**
 * Rejects filters by personal data: with them, a masked response would confirm a guess.
 * @throws InvalidParamError naming the filter, whatever its value
 */
export function rejectPersonalFilters(query: RawQuery): void {
  const param = personalParams.find((name) => query[name] !== undefined)
  if (param === undefined) return
  throw new InvalidParamError(
    param,
    `Esta chave não vê dados pessoais, e por isso não filtra por ${param}. Retire o parâmetro ou use uma chave com o acesso "orders:read".`,
  )
}
