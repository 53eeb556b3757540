import { describe, expect, it } from 'vitest'
import {
  checksumMatches,
  extractOrderJson,
  withChecksum,
} from '../../../../../src/stores/opensearch/order-documents/checksum-header.ts'

describe('the checksum header', () => {
  it('the checksum header has the lengths in bytes and the checksum of the rest', () => {
    expect(withChecksum('{"id":"ord_1"}', '{"name":"São"}')).toMatch(
      /^\{"frame":"[0-9a-f]{8}-0015-0000000f","id":"ord_1","order":\{"name":"São"\}\}$/,
    )
  })

  it.each([0xffff, 0x1_0000, 0x10_0000])(
    'the checksum header lets the order behind %d bytes of keys be extracted',
    (bytes) => {
      const before = '"id":"","order":'.length
      const order = '{"name":"São"}'
      const source = withChecksum(JSON.stringify({ id: 'x'.repeat(bytes - before) }), order)
      expect(source).toContain(`-${bytes.toString(16)}-0000000f"`)
      expect(extractOrderJson(Buffer.from(source))?.toString()).toBe(order)
      const damaged = source.replace('São', 'Sao ')
      expect(extractOrderJson(Buffer.from(damaged))).toBeUndefined()
      expect(checksumMatches(JSON.parse(source))).toBe(true)
      expect(checksumMatches(JSON.parse(damaged))).toBe(false)
    },
  )
})
