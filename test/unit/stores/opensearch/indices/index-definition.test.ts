import { describe, expect, it } from 'vitest'
import { renderDocument } from '../../../../../src/indexing/writer/order-document.ts'
import { renderTombstone } from '../../../../../src/stores/opensearch/client/documents/tombstone.ts'
import {
  keyDefinitions,
  ordersDefinition,
  recordDefinitions,
} from '../../../../../src/stores/opensearch/indices/index-definition.ts'
import { indexNames } from '../../../../../src/stores/opensearch/indices/index-names.ts'
import { webhookDefinitions } from '../../../../../src/stores/opensearch/indices/webhook-definitions.ts'
import { serializeDocument } from '../../../../../src/stores/opensearch/order-documents/order-document-source.ts'
import { toVersionRecordSource } from '../../../../../src/stores/opensearch/version-record-document.ts'
import { deliverySource } from '../../../../../src/stores/opensearch/webhooks/delivery-document.ts'
import { endpointSource } from '../../../../../src/stores/opensearch/webhooks/endpoint-document.ts'
import { changeOf } from '../../../../support/orders/changes.ts'
import { sourceOrder } from '../../../../support/orders/source-order.ts'
import { delivery } from '../../../../support/webhooks/delivery.ts'
import { endpoint } from '../../../../support/webhooks/endpoint.ts'

interface Definition {
  settings: Record<string, unknown>
  mappings: { dynamic?: string; enabled?: boolean; properties?: Record<string, object> }
}

const names = indexNames('')
const others = [...recordDefinitions(names), ...keyDefinitions(names), ...webhookDefinitions(names)]
const defined = new Map(others) as Map<string, Definition>
const definition = (name: string): Definition => {
  const found = defined.get(name)
  if (found === undefined) throw new Error(`no index ${name}`)
  return found
}
const { settings, mappings } = ordersDefinition

describe('the index of orders', () => {
  it('the orders index has one shard, and a replica where another node exists', () => {
    expect(settings).toMatchObject({ number_of_shards: 1, auto_expand_replicas: '0-1' })
  })

  it('the orders index refreshes every second, searched or not', () => {
    expect(settings.refresh_interval).toBe('1s')
  })

  it('the orders index caches no response', () => {
    expect(settings['requests.cache.enable']).toBe(false)
  })

  it('the orders index is sorted by account only', () => {
    expect([settings['sort.field'], settings['sort.order']]).toEqual(['account_id', 'asc'])
  })

  it('the orders index rejects a document without a routing', () => {
    expect(mappings._routing).toEqual({ required: true })
  })

  it('the orders index has a strict mapping, and does not parse the order itself', () => {
    expect(mappings.dynamic).toBe('strict')
    expect(mappings.properties.order).toEqual({ type: 'object', enabled: false })
  })

  it.each(['created_key', 'updated_key', 'written_key'] as const)(
    'the orders index maps %s as a long',
    (key) => {
      expect(mappings.properties[key]).toEqual({ type: 'long' })
    },
  )

  it.each(['account_id', 'id', 'status', 'payment_method'] as const)(
    'the orders index maps %s as a keyword',
    (name) => {
      expect(mappings.properties[name]).toEqual({ type: 'keyword' })
    },
  )

  it('the orders index maps exactly the fields of a document and a tombstone', () => {
    const [view] = changeOf(sourceOrder()).views
    if (view === undefined) throw new Error('no view')
    const source = serializeDocument(renderDocument({ ...view, orderId: 'o', updatedAt: null }, 1))
    const fields = [source, renderTombstone(1)].flatMap((one) => Object.keys(JSON.parse(one)))
    expect(new Set(fields)).toEqual(new Set(Object.keys(mappings.properties)))
  })
})

describe('the other indices', () => {
  it('the other indices are those of records, of the lease, of keys, of accounts and of webhooks', () => {
    expect([...defined.keys()]).toEqual([
      names.versionRecords,
      names.eventRecords,
      names.writer,
      names.keys,
      names.accounts,
      names.webhookEndpoints,
      names.webhookDeliveries,
    ])
  })

  it.each([...defined.keys()])(
    'the index %s has one shard, and a replica on another node',
    (name) => {
      expect(definition(name).settings).toMatchObject({
        number_of_shards: 1,
        auto_expand_replicas: '0-1',
      })
    },
  )

  it.each([names.versionRecords, names.writer])(
    'the index %s is read by id only, without a parsed field',
    (name) => {
      expect(definition(name).mappings).toEqual({ enabled: false })
    },
  )

  it.each([
    names.eventRecords,
    names.keys,
    names.accounts,
    names.webhookEndpoints,
    names.webhookDeliveries,
  ])('the index %s rejects unknown fields', (name) => {
    expect(definition(name).mappings.dynamic).toBe('strict')
  })

  it('the webhook indices map exactly the fields of their documents', () => {
    const fieldsOf = (name: string) =>
      new Set(Object.keys(definition(name).mappings.properties ?? {}))
    expect(fieldsOf(names.webhookEndpoints)).toEqual(
      new Set(Object.keys(endpointSource(endpoint()))),
    )
    expect(fieldsOf(names.webhookDeliveries)).toEqual(
      new Set(Object.keys(deliverySource(delivery()))),
    )
  })

  it('the keys index finds a key by its id and by its account', () => {
    const { properties } = definition(names.keys).mappings
    expect(properties).toMatchObject({
      key_id: { type: 'keyword' },
      account_id: { type: 'keyword' },
      created_at: { type: 'long' },
    })
  })

  it('a version record keeps no personal data', () => {
    const versionRecord = {
      orderId: 'ord_1',
      version: 1,
      ownerAccountId: 'acc_1',
      accountIds: ['acc_1'],
      createdKey: 1,
      hasUpdatedAt: true,
      deleted: false,
    }
    expect(toVersionRecordSource(versionRecord)).toEqual({
      version: 1,
      owner: 'acc_1',
      accounts: ['acc_1'],
      created_at: 1,
      filled: true,
      deleted: false,
    })
  })
})
