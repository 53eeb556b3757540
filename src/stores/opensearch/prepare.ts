import { once } from '../../lib/once.ts'
import { ask, type OpenSearch, Refused, tell } from './client.ts'
import { definitions, ordersDefinition } from './index-definition.ts'
import { type IndexNames, indexBehind } from './names.ts'

/**
 * Makes the indices that are not there yet, and leaves those that are as they are; the template is always
 * today's. Once a process, unless it fails.
 */
export type Prepare = () => Promise<void>

const TEMPLATE_PRIORITY = 500
const OTHER_TYPE = 400
const ALREADY_THERE = 'resource_already_exists_exception'

/** @throws Unavailable; Error when OpenSearch refuses, with its reason */
export function createPrepare(client: OpenSearch, names: IndexNames, deadlineMs: number): Prepare {
  return once(async () => {
    const template = {
      index_patterns: [indexBehind(names.orders, '*')],
      template: ordersDefinition,
      priority: TEMPLATE_PRIORITY,
    }
    await tell(deadlineMs, (options) =>
      client.indices.putIndexTemplate({ name: names.orders, body: template as object }, options),
    )
    await Promise.all(definitions(names).map(([alias, definition]) => create(alias, definition)))
    await addFields()
  })

  /** Fields that came since an index was made. One of another type takes a reindex. */
  async function addFields(): Promise<void> {
    const { properties } = ordersDefinition.mappings
    const there = await ask(deadlineMs, (options) =>
      client.indices.get({ index: indexBehind(names.orders, '*') }, options),
    )
    for (const [index, { mappings }] of Object.entries(there)) {
      if (!names.isVersion(index)) continue
      const known = new Set(Object.keys(mappings?.properties ?? {}))
      const missing = Object.entries(properties).filter(([name]) => !known.has(name))
      if (missing.length === 0) continue
      const request = { index, body: { properties: Object.fromEntries(missing) } as object }
      await tell(deadlineMs, (options) => client.indices.putMapping(request, options)).catch(
        (error) => {
          if (!(error instanceof Refused && error.status === OTHER_TYPE)) throw error
        },
      )
    }
  }

  async function create(alias: string, definition: object): Promise<void> {
    if (await exists(alias)) return
    const body = { ...definition, aliases: { [alias]: {} } }
    try {
      await tell(deadlineMs, (options) =>
        client.indices.create({ index: indexBehind(alias, 1), body }, options),
      )
    } catch (error) {
      // Another process was faster.
      if (!(error instanceof Refused && error.type === ALREADY_THERE)) throw error
    }
  }

  function exists(name: string): Promise<boolean> {
    return ask(deadlineMs, (options) => client.indices.existsAlias({ name }, options))
  }
}
