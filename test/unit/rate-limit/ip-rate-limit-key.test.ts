import { describe, expect, it } from 'vitest'
import { ipRateLimitKey } from '../../../src/rate-limit/ip-rate-limit-key.ts'

describe('countedAddress', () => {
  it.each(['1.2.3.4', '127.0.0.1', '255.255.255.255', '0.0.0.0'])(
    'counts the IPv4 address %s by itself',
    (ip) => {
      expect(ipRateLimitKey(ip)).toBe(ip)
    },
  )

  it.each(['::ffff:1.2.3.4', '::FFFF:1.2.3.4', '::ffff:102:304', '0:0:0:0:0:ffff:1.2.3.4'])(
    'counts %s, mapped into IPv6, as 1.2.3.4',
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
  ])('counts %s and %s together', (one, other) => {
    expect(ipRateLimitKey(one)).toBe(ipRateLimitKey(other))
  })

  it.each([
    ['2001:db8:1:2::1', '2001:db8:1:3::1'],
    ['2001:db8:1:2::1', '2001:db9:1:2::1'],
    ['1.2.3.4', '1.2.3.5'],
    ['::1', '0.0.0.1'],
  ])('counts %s and %s apart', (one, other) => {
    expect(ipRateLimitKey(one)).not.toBe(ipRateLimitKey(other))
  })

  it.each([
    ['192.0.2.7:40000', '192.0.2.7'],
    ['[2001:db8:1:2::1]:443', '2001:db8:1:2::1'],
    ['[2001:db8:1:2::1]', '2001:db8:1:2::1'],
    ['::ffff:192.0.2.7', '192.0.2.7'],
  ])('counts %s, with the port some proxies add, as %s', (told, bare) => {
    expect(ipRateLimitKey(told, '10.0.0.1')).toBe(ipRateLimitKey(bare))
  })

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
  ])('counts what is no address for the other end of the connection: %j', (told) => {
    expect(ipRateLimitKey(told, '10.0.0.1')).toBe('10.0.0.1')
  })

  it('counts together what comes from nowhere', () => {
    expect(ipRateLimitKey('')).toBe(ipRateLimitKey('pipe'))
  })
})
