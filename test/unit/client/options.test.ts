import { afterEach, describe, expect, it, vi } from 'vitest'
import { UsageError } from '../../../src/client/errors.ts'
import { parseApiKey, parseBaseUrl, refuseBrowsers } from '../../../src/client/options.ts'

describe('an address', () => {
  it.each([
    ['https://api.example.com', 'https://api.example.com'],
    ['https://api.example.com/', 'https://api.example.com'],
    ['https://api.example.com/loja/', 'https://api.example.com/loja'],
    ['https://api.example.com/v1', 'https://api.example.com'],
    ['https://api.example.com/v1/orders', 'https://api.example.com'],
    ['HTTPS://API.example.com:8443/v1/orders/', 'https://api.example.com:8443'],
    ['http://localhost:3000', 'http://localhost:3000'],
    ['http://127.0.0.1:3000/', 'http://127.0.0.1:3000'],
    ['http://[::1]:3000', 'http://[::1]:3000'],
  ])('%s is %s', (text, url) => {
    expect(parseBaseUrl(text)).toBe(url)
  })

  it.each([
    ['', /não é um endereço inteiro/],
    ['api.example.com', /não é um endereço inteiro/],
    ['http://api.example.com', /chave viajaria sem proteção\. Use https:\/\/api\.example\.com/],
    ['http://localhost.example.com', /sem proteção/],
    ['ftp://api.example.com', /atende por https/],
    ['https://key@api.example.com', /a chave nunca vai nele/],
    ['https://api.example.com?key=x', /a chave nunca vai nele/],
  ])('%j is refused', (text, message) => {
    expect(() => parseBaseUrl(text)).toThrow(UsageError)
    expect(() => parseBaseUrl(text)).toThrow(message)
  })
})

describe('a key', () => {
  it('is taken without the line break of a file', () => {
    expect(parseApiKey(' key_live_abc\r\n')).toBe('key_live_abc')
  })

  it.each([undefined, '', ' \n', 'key live', 'chave_é'])('%j is refused', (text) => {
    expect(() => parseApiKey(text)).toThrow(UsageError)
  })

  it('is not shown where it came in place of the address', () => {
    expect(() => parseBaseUrl('key_live_secret')).toThrow(/^((?!secret).)*$/)
  })

  it('is not shown when it is refused', () => {
    expect(() => parseApiKey('key_live secret')).toThrow(/^((?!secret).)*$/)
  })
})

describe('a page in a browser', () => {
  afterEach(() => vi.unstubAllGlobals())

  it('is refused, since its readers could read the key', () => {
    vi.stubGlobal('window', {})
    vi.stubGlobal('document', {})
    expect(refuseBrowsers).toThrow(/não é para navegadores/)
  })

  it('is not what a server is taken for', () => {
    expect(refuseBrowsers).not.toThrow()
  })
})
