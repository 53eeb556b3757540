import { describe, expect, it } from 'vitest'
import { Unavailable } from '../../../src/lib/errors/unavailable.ts'
import { RequestRejectedError } from '../../../src/stores/opensearch/client/errors.ts'
import { leaseDocument } from '../../../src/stores/opensearch/lease-document.ts'
import {
  GENEROUS_MS,
  names,
  thrownBy,
  useScriptedNodes,
} from '../../support/stores/scripted/scripted-nodes.ts'
import {
  type Behaviour,
  respond,
  respondError,
  respondText,
} from '../../support/stores/scripted/scripted-server.ts'

const { serve, connect } = useScriptedNodes()

async function start(behaviour: Behaviour) {
  const { url, received } = await serve(behaviour)
  return { document: leaseDocument(connect([url]).client, names, GENEROUS_MS), received }
}

const record = {
  epoch: 7,
  holder: 'me',
  purpose: 'load' as const,
  released: false,
  lease_ms: 10_000,
  stamp_ceiling: 5_000,
  targets: ['orders-v1'],
  fed: [],
  stamped_live: false,
}
const state = { if_seq_no: 4, if_primary_term: 2 }
const found = (_source: object) =>
  respond(200, { found: true, _seq_no: 4, _primary_term: 2, _source })
const replaced = respond(200, { _seq_no: 5, _primary_term: 2 })

describe('the lease document', () => {
  it('the lease is read with its sequence number and term', async () => {
    const { document } = await start(found(record))
    expect(await document.read()).toEqual({ record, state })
  })

  it('a lease of an earlier version counts as one with live writes', async () => {
    const { stamped_live: _, ...earlier } = record
    const { document } = await start(found(earlier))
    expect((await document.read())?.record.stamped_live).toBe(true)
  })

  it('the lease is absent before the first writer', async () => {
    const { document } = await start(respond(404, { found: false }))
    expect(await document.read()).toBeNull()
  })

  it('the lease is unknown without its index', async () => {
    const { document } = await start(respondError(404, 'index_not_found_exception'))
    expect(await thrownBy(document.read())).toBeInstanceOf(Unavailable)
  })

  it.each([
    ['without any field', {}],
    ['without its epoch', { ...record, epoch: undefined }],
    ['whose epoch is a text', { ...record, epoch: '7' }],
    ['whose epoch is not an integer', { ...record, epoch: 7.5 }],
    ['without its duration', { ...record, lease_ms: null }],
    ['without its ceiling', { ...record, stamp_ceiling: undefined }],
    ['whose ceiling is not exact', { ...record, stamp_ceiling: 2 ** 53 }],
    ['whose targets are not a list', { ...record, targets: 'orders-v1' }],
  ])('a lease document %s is reported as damaged, not as unavailable', async (_what, damaged) => {
    const { document } = await start(found(damaged))
    const error = await thrownBy(document.read())
    expect(error).not.toBeInstanceOf(Unavailable)
    expect(String(error)).toContain('lease document is damaged')
  })
})

describe('replacing the lease', () => {
  it('a replacement sends the known version and returns the next one', async () => {
    const { document, received } = await start(replaced)
    const known = { record: { ...record, epoch: 6 }, state }
    expect(await document.replace(known, record)).toEqual({
      record,
      state: { if_seq_no: 5, if_primary_term: 2 },
    })
    const { pathname, searchParams } = new URL(received[0]?.path ?? '', 'http://x')
    expect(pathname).toBe('/writer/_doc/orders')
    expect(Object.fromEntries(searchParams)).toEqual({
      if_seq_no: '4',
      if_primary_term: '2',
      require_alias: 'true',
    })
    expect(JSON.parse(received[0]?.body ?? '')).toEqual(record)
  })

  it('the first lease is created only when none exists', async () => {
    const { document, received } = await start(replaced)
    await document.replace(null, record)
    expect(received[0]?.path).toBe('/writer/_doc/orders?op_type=create&require_alias=true')
  })

  it('a replacement reports a version conflict', async () => {
    const { document } = await start(respondError(409, 'version_conflict_engine_exception'))
    expect(await document.replace({ record, state }, record)).toBeNull()
  })

  it.each<[string, Behaviour]>([
    ['a 503', respondError(503, 'cluster_block_exception')],
    ['a page of HTML', respondText(200, '<html>It works!</html>', 'text/html')],
    ['a 200 without the new version', respond(200, {})],
    ['a 200 without the new sequence number', respond(200, { _primary_term: 2 })],
    ['a 200 without the new term', respond(200, { _seq_no: 5 })],
  ])('a replacement has an unknown outcome after %s', async (_what, behaviour) => {
    const { document } = await start(behaviour)
    const error = await thrownBy(document.replace({ record, state }, record))
    expect(error).toBeInstanceOf(Unavailable)
  })

  it('a replacement reports a rejection', async () => {
    const { document } = await start(respondError(403, 'security_exception'))
    const error = await thrownBy(document.replace({ record, state }, record))
    expect(error).toBeInstanceOf(RequestRejectedError)
  })
})
