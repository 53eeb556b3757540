import { describe, expect, it } from 'vitest'
import { ipRateLimitKey } from '../../../src/rate-limit/ip-rate-limit-key.ts'

describe('ipRateLimitKey', () => {
  it.each(['1.2.3.4', '127.0.0.1', '255.255.255.255', '0.0.0.0'])(
    'returns the IPv4 address %s unchanged',
    (ip) => {
      expect(ipRateLimitKey(ip)).toBe(ip)
    },
  )

  it.each(['::ffff:1.2.3.4', '::FFFF:1.2.3.4', '::ffff:102:304', '0:0:0:0:0:ffff:1.2.3.4'])(
    'maps %s to 1.2.3.4',
    (ip) => {
      expect(ipRateLimitKey(ip)).toBe('1.2.3.4')
    },
  )

  it.each([
    ['2001:db8:1:2::1', '2001:db8:1:2::2'],
    ['2001:db8:1:2::1', '2001:db8:1:2:ffff:ffff:ffff:ffff'],
    ['2001:db8:1:2::1', '2001:0DB8:0001:0002:0:0:0:1'],
    ['::1', '::2'],
    ['fe80::1', 'fe80::1%eth0'],
  ])('returns one key for %s and %s', (one, other) => {
    expect(ipRateLimitKey(one)).toBe(ipRateLimitKey(other))
  })

  it.each([
    ['2001:db8:1:2::1', '2001:db8:1:3::1'],
    ['2001:db8:1:2::1', '2001:db9:1:2::1'],
    ['1.2.3.4', '1.2.3.5'],
    ['::1', '0.0.0.1'],
  ])('returns different keys for %s and %s', (one, other) => {
    expect(ipRateLimitKey(one)).not.toBe(ipRateLimitKey(other))
  })

  it.each([
    ['192.0.2.7:40000', '192.0.2.7'],
    ['[2001:db8:1:2::1]:443', '2001:db8:1:2::1'],
    ['[2001:db8:1:2::1]', '2001:db8:1:2::1'],
    ['::ffff:192.0.2.7', '192.0.2.7'],
  ])('removes the port from %s, which gives %s', (reported, bare) => {
    expect(ipRateLimitKey(reported, '10.0.0.1')).toBe(ipRateLimitKey(bare))
  })

  it.each([
    '64:ff9b::1.2.3.4',
    '64:FF9B::102:304',
    '64:ff9b:0:0:0:0:1.2.3.4',
    '[64:ff9b::1.2.3.4]:443',
  ])('returns 1.2.3.4 for %s, the form of an IPv4 client behind NAT64', (ip) => {
    expect(ipRateLimitKey(ip)).toBe('1.2.3.4')
  })

  it.each(['64:ff9b:1::1.2.3.4', '64:ff9b::1:0:0:1', '64:ff9c::1.2.3.4'])(
    'returns the network of %s, which is outside the well-known prefix of NAT64',
    (ip) => {
      expect(ipRateLimitKey(ip)).toMatch(/^[0-9a-f]{16}::\/64$/)
    },
  )

  it.each([
    '',
    'localhost',
    'unknown',
    '1.2.3.256',
    '1.2.3.4:',
    ':80',
    '[1.2',
    '😀',
    'x'.repeat(10_000),
  ])('uses the address of the peer for the invalid address %j', (reported) => {
    expect(ipRateLimitKey(reported, '10.0.0.1')).toBe('10.0.0.1')
  })

  it('returns one key when no address is valid', () => {
    expect(ipRateLimitKey('')).toBe(ipRateLimitKey('pipe'))
  })
})
