import { afterEach, describe, expect, it, vi } from 'vitest'
import { type ClientOptions, createOrdersClient } from '../../../src/client/client.ts'
import { UsageError } from '../../../src/client/errors.ts'
import { parseApiKey, parseBaseUrl, rejectBrowsers } from '../../../src/client/options.ts'

describe('the base address', () => {
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
  ])('normalizes %s to %s', (text, url) => {
    expect(parseBaseUrl(text)).toBe(url)
  })

  it.each([
    ['', /Falta o endereço da API \(baseUrl\)/],
    ['api.example.com', /não é um endereço inteiro/],
    ['http://api.example.com', /chave trafegaria sem proteção\. Use https:\/\/api\.example\.com/],
    ['http://localhost.example.com', /sem proteção/],
    ['ftp://api.example.com', /atende por https/],
    ['https://key@api.example.com', /a chave nunca vai nele/],
    ['https://api.example.com?key=x', /a chave nunca vai nele/],
  ])('rejects %j', (text, message) => {
    expect(() => parseBaseUrl(text)).toThrow(UsageError)
    expect(() => parseBaseUrl(text)).toThrow(message)
  })
})

describe('the API key', () => {
  it('the API key is trimmed of the line break of a file', () => {
    expect(parseApiKey(' key_live_abc\r\n')).toBe('key_live_abc')
  })

  it.each([undefined, '', ' \n', 'key live', 'chave_é'])('rejects %j', (text) => {
    expect(() => parseApiKey(text)).toThrow(UsageError)
  })

  it('the API key is not repeated by the error when it is given as the address', () => {
    expect(() => parseBaseUrl('key_live_secret')).toThrow(/^((?!secret).)*$/)
  })

  it('the API key is not repeated by the error that rejects it', () => {
    expect(() => parseApiKey('key_live secret')).toThrow(/^((?!secret).)*$/)
  })
})

describe('the time limits', () => {
  const create = (limits: Partial<ClientOptions>) =>
    createOrdersClient({ baseUrl: 'https://api.example.com', apiKey: 'key_live_abc', ...limits })

  it.each<Partial<ClientOptions>>([
    { timeoutMs: Number.NaN },
    { timeoutMs: Number.POSITIVE_INFINITY },
    { timeoutMs: -1 },
    { timeoutMs: 0 },
    { timeoutMs: 2 ** 31 },
    { timeoutMs: 5e9 },
    { retryForMs: Number.NaN },
    { retryForMs: -1 },
  ])('rejects %o', (limits) => {
    expect(() => create(limits)).toThrow(UsageError)
    expect(() => create(limits)).toThrow(/^(timeoutMs|retryForMs): .* não é um tempo válido/)
  })

  it.each<Partial<ClientOptions>>([
    { timeoutMs: 1 },
    { timeoutMs: 2 ** 31 - 1 },
    { retryForMs: 0 },
    { retryForMs: Number.POSITIVE_INFINITY },
  ])('accepts %o', (limits) => {
    expect(() => create(limits)).not.toThrow()
  })
})

describe('the runtime check', () => {
  afterEach(() => vi.unstubAllGlobals())

  it('rejects a browser, where visitors could read the key', () => {
    vi.stubGlobal('window', {})
    vi.stubGlobal('document', {})
    expect(rejectBrowsers).toThrow(/não é para navegadores/)
  })

  it('accepts a server', () => {
    expect(rejectBrowsers).not.toThrow()
  })
})

describe('a program without types', () => {
  it.each([
    [undefined, /Faltam as opções do cliente: createOrdersClient\(\{ baseUrl/],
    [null, /Faltam as opções/],
    [{}, /baseUrl/],
    [{ baseUrl: 'https://api.example.com' }, /apiKey/],
  ])('createOrdersClient(%j) reports what is missing', (options, message) => {
    expect(() => createOrdersClient(options as unknown as ClientOptions)).toThrow(UsageError)
    expect(() => createOrdersClient(options as unknown as ClientOptions)).toThrow(message)
  })

  it('await list() reports the loop to write instead', async () => {
    const baseUrl = 'https://api.example.com'
    const listing: unknown = createOrdersClient({ baseUrl, apiKey: 'key' }).orders.list()
    await expect(listing).rejects.toThrow(UsageError)
    await expect(listing).rejects.toThrow(/for await \(const order of orders\.list\(\)\)/)
  })
})
