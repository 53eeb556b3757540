import { describe, expect, it } from 'vitest'
import { renderDocument } from '../../../../src/indexing/writer/order-document.ts'
import {
  keyDefinitions,
  ordersDefinition,
  recordDefinitions,
} from '../../../../src/stores/opensearch/index-definition.ts'
import { indexNames } from '../../../../src/stores/opensearch/index-names.ts'
import { serializeDocument } from '../../../../src/stores/opensearch/order-document.ts'
import { renderTombstone } from '../../../../src/stores/opensearch/tombstone.ts'
import { toVersionRecordSource } from '../../../../src/stores/opensearch/write/index-reader.ts'
import { changeOf } from '../../../support/orders/changes.ts'
import { sourceOrder } from '../../../support/orders/source-order.ts'

interface Definition {
  settings: Record<string, unknown>
  mappings: { dynamic?: string; enabled?: boolean; properties?: Record<string, object> }
}

const names = indexNames('')
const others = [...recordDefinitions(names), ...keyDefinitions(names)]
const defined = new Map(others) as Map<string, Definition>
const definition = (name: string): Definition => {
  const found = defined.get(name)
  if (found === undefined) throw new Error(`no index ${name}`)
  return found
}
const { settings, mappings } = ordersDefinition

describe('the index of orders', () => {
  it('is one shard, with a copy where there is another node', () => {
    expect(settings).toMatchObject({ number_of_shards: 1, auto_expand_replicas: '0-1' })
  })

  it('refreshes every second, searched or not', () => {
    expect(settings.refresh_interval).toBe('1s')
  })

  it('caches no answer', () => {
    expect(settings['requests.cache.enable']).toBe(false)
  })

  it('is sorted by account alone', () => {
    expect([settings['sort.field'], settings['sort.order']]).toEqual(['account_id', 'asc'])
  })

  it('takes no document without a routing', () => {
    expect(mappings._routing).toEqual({ required: true })
  })

  it('is strict outside the order, and parses nothing of it', () => {
    expect(mappings.dynamic).toBe('strict')
    expect(mappings.properties.order).toEqual({ type: 'object', enabled: false })
  })

  it.each(['created_key', 'updated_key', 'written_key'] as const)('has %s as a long', (key) => {
    expect(mappings.properties[key]).toEqual({ type: 'long' })
  })

  it.each(['account_id', 'id', 'status', 'payment_method'] as const)(
    'has %s as a keyword',
    (name) => {
      expect(mappings.properties[name]).toEqual({ type: 'keyword' })
    },
  )

  it('has just the fields that a document or a tombstone is written with', () => {
    const [view] = changeOf(sourceOrder()).views
    if (view === undefined) throw new Error('no view')
    const source = serializeDocument(renderDocument({ ...view, orderId: 'o', updatedAt: null }, 1))
    const fields = [source, renderTombstone(1)].flatMap((one) => Object.keys(JSON.parse(one)))
    expect(new Set(fields)).toEqual(new Set(Object.keys(mappings.properties)))
  })
})

describe('the other indices', () => {
  it('are one each of heads, of the lease, of keys and of accounts', () => {
    expect([...defined.keys()]).toEqual([names.heads, names.writer, names.keys, names.accounts])
  })

  it.each([...defined.keys()])('%s is one shard, with a copy on another node', (name) => {
    expect(definition(name).settings).toMatchObject({
      number_of_shards: 1,
      auto_expand_replicas: '0-1',
    })
  })

  it.each([names.heads, names.writer])(
    '%s is read by id alone, and nothing in it parsed',
    (name) => {
      expect(definition(name).mappings).toEqual({ enabled: false })
    },
  )

  it.each([names.keys, names.accounts])('%s takes no field that it does not know', (name) => {
    expect(definition(name).mappings.dynamic).toBe('strict')
  })

  it('let a key be found by its id and by its account', () => {
    const { properties } = definition(names.keys).mappings
    expect(properties).toMatchObject({
      key_id: { type: 'keyword' },
      account_id: { type: 'keyword' },
      created_at: { type: 'long' },
    })
  })

  it('keep no personal data in a head', () => {
    const head = {
      orderId: 'ord_1',
      version: 1,
      ownerAccountId: 'acc_1',
      accountIds: ['acc_1'],
      createdKey: 1,
      hasUpdatedAt: true,
      deleted: false,
    }
    expect(toVersionRecordSource(head)).toEqual({
      version: 1,
      owner: 'acc_1',
      accounts: ['acc_1'],
      created_at: 1,
      filled: true,
      deleted: false,
    })
  })
})
