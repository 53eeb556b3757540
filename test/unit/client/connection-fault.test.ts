import { describe, expect, it } from 'vitest'
import { connectionFault } from '../../../src/client/connection-fault.ts'

const URL = 'https://api.example.com/v1/orders?cursor=abc'
const failed = (cause: Error) => connectionFault(URL, new TypeError('fetch failed', { cause }))
const coded = (code: string, message: string) => Object.assign(new Error(message), { code })

describe('a call without an answer', () => {
  it.each([
    ['UNABLE_TO_VERIFY_LEAF_SIGNATURE', /não é confiável.*proxy da empresa/],
    ['CERT_HAS_EXPIRED', /não é confiável.*relógio desta máquina/],
    ['CERT_NOT_YET_VALID', /não é confiável.*relógio desta máquina/],
    ['ERR_TLS_CERT_ALTNAME_INVALID', /não é confiável.*Confira o endereço/],
  ])('is final after %s, and says what to look at', (code, message) => {
    expect(failed(coded(code, 'x'))).toMatchObject({
      isFinal: true,
      message: expect.stringMatching(message),
    })
  })

  it('tells what it was caused by, the host, and nothing else of the address', () => {
    const { message, isFinal } = failed(coded('ECONNREFUSED', ''))
    expect(message).toBe(
      'Não veio uma resposta inteira de api.example.com (fetch failed: ECONNREFUSED). Confira a rede e o endereço.',
    )
    expect(isFinal).toBe(false)
  })

  it('takes no name of a host for a fault of its certificate', () => {
    const fault = failed(coded('ENOTFOUND', 'getaddrinfo ENOTFOUND api.certo.CERT_x.invalid'))
    expect(failed(coded('ENOTFOUND', 'getaddrinfo ENOTFOUND api.certo.invalid')).isFinal).toBe(
      false,
    )
    expect(fault.message).toMatch(/Confira/)
  })

  it('tells that it took too long', () => {
    const timeout = new DOMException('The operation was aborted', 'TimeoutError')
    expect(connectionFault(URL, timeout).message).toMatch(/a resposta demorou demais/)
  })
})
