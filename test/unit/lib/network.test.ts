import { isIP } from 'node:net'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { parseReportedAddress } from '../../../src/lib/network.ts'

describe('parseReportedAddress', () => {
  it.each([
    ['192.0.2.7', '192.0.2.7'],
    ['192.0.2.7:40000', '192.0.2.7'],
    ['[192.0.2.7]:80', '192.0.2.7'],
    ['::ffff:192.0.2.7', '192.0.2.7'],
    ['[::ffff:c000:207]:443', '192.0.2.7'],
    ['2001:DB8::1', '2001:db8::1'],
    ['[2001:db8::1]', '2001:db8::1'],
    ['[2001:db8::1]:443', '2001:db8::1'],
    ['fe80::1%eth0', 'fe80::1'],
    ['fe80::1%br-lan', 'fe80::1'],
    ['[fe80::1%br-lan.2]:443', 'fe80::1'],
  ])('returns the address of %s, which is %s', (reported, address) => {
    expect(parseReportedAddress(reported)?.toString()).toBe(address)
  })

  it.each([
    ...['', 'unknown', ':80', '192.0.2.7:', '192.0.2.7:x', '192.0.2.7:80:80', '192.0.2.7%eth0'],
    ...['192.0.2.256', '192.0.519', '192.0.519:80', '3221225991', '0xc0.0.2.7', '010.0.0.1'],
    ...['010.0.0.1:80', '[2001:db8::1', '[2001:db8::1]443', '[2001:db8::1]:x', '2001:db8::1]:80'],
    ...['[[2001:db8::1]]', '[]:80', '[192.0.2.7:80]:80', '192.0.2.7, 192.0.2.8', ' 192.0.2.7'],
  ])('returns no address for %j', (reported) => {
    expect(parseReportedAddress(reported)).toBeUndefined()
  })

  it('returns an address for exactly the texts that Node.js accepts, and never throws', () => {
    const part = fc.constantFrom(
      ...[
        '0',
        '1',
        'a',
        'ffff',
        ':',
        '::',
        '::ffff:',
        '64:ff9b::',
        '1.2.3.4',
        '.',
        '%',
        '-',
        'eth0',
      ],
    )
    fc.assert(
      fc.property(fc.array(part, { maxLength: 8 }), (parts) => {
        const text = parts.join('')
        fc.pre(!/^[\d.]+:\d+$/.test(text))
        expect(parseReportedAddress(text) !== undefined).toBe(isIP(text) !== 0)
        expect(parseReportedAddress(`[${text}]:1`) !== undefined).toBe(isIP(text) !== 0)
      }),
      { numRuns: 2_000 },
    )
  })
})
