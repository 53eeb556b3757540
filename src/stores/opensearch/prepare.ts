import { once } from '../../lib/once.ts'
import { ask, type OpenSearch, Refused, tell } from './client.ts'
import { definitions, ordersDefinition } from './index-definition.ts'
import type { IndexNames } from './names.ts'

/** Makes what is not there yet; what is there stays as it is. Once a process, unless it fails. */
export type Prepare = () => Promise<void>

const TEMPLATE_PRIORITY = 500
const ALREADY_THERE = 'resource_already_exists_exception'

/** @throws Unavailable; Error when OpenSearch refuses, with its reason */
export function createPrepare(client: OpenSearch, names: IndexNames, deadlineMs: number): Prepare {
  return once(async () => {
    const template = {
      index_patterns: [names.ordersVersion('*')],
      template: ordersDefinition,
      priority: TEMPLATE_PRIORITY,
    }
    await tell(deadlineMs, (options) =>
      client.indices.putIndexTemplate({ name: names.orders, body: template as object }, options),
    )
    const made = definitions(names).map(([index, definition]) => create(index, definition))
    await Promise.all([...made, createOrders()])
  })

  async function createOrders(): Promise<void> {
    if (await exists(names.orders)) return
    await create(names.ordersVersion(1), { aliases: { [names.orders]: {} } })
  }

  async function create(index: string, body: object): Promise<void> {
    if (await exists(index)) return
    try {
      await tell(deadlineMs, (options) => client.indices.create({ index, body }, options))
    } catch (error) {
      // Another process was faster.
      if (!(error instanceof Refused && error.type === ALREADY_THERE)) throw error
    }
  }

  function exists(name: string): Promise<boolean> {
    return ask(deadlineMs, (options) => client.indices.exists({ index: name }, options))
  }
}
