import { describe, expect, it } from 'vitest'
import { isRequestTarget, routableUrl } from '../../../../src/http/server/request-target.ts'

describe('isRequestTarget', () => {
  it.each([
    ...['/', '//', '/v1/orders?limit=1', '/%zz', '*'],
    ...['http://host', 'https://host:8443/v1', 'HTTP://host/', 'http://[::1]:80?x', 'http://h/%zz'],
  ])('accepts %s', (target) => {
    expect(isRequestTarget(target)).toBe(true)
  })

  it.each([
    ...['', 'v1/orders', '**', 'http:/v1', 'http:///v1', 'http://?x', 'ftp://host/v1'],
    ...['http://a%zz/v1', 'http://host:99999/', 'http://host/v1#x', 'http://host#/v1', 'host:443'],
    ...['/v1/orders#x', '/v1/orders#x?limit=0', '/#'],
  ])('rejects %j', (target) => {
    expect(isRequestTarget(target)).toBe(false)
  })
})

it.each([
  ['/v1/orders?a=b?c', '/v1/orders?a=b?c'],
  ['*', '*'],
  ['http://host', '/'],
  ['http://host?x=1', '/?x=1'],
  ['https://host:8443/docs?x', '/docs?x'],
  ['HTTP://host//a', '//a'],
  ['/http://host/a', '/http://host/a'],
  ['/%20/a', '/%20/a'],
  ['/%zz?x=%zz', '/%25zz?x=%zz'],
  ['http://host/%', '/%25'],
])('routableUrl of %s is %s', (target, url) => {
  expect(routableUrl(target)).toBe(url)
})
