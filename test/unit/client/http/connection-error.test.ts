import { describe, expect, it } from 'vitest'
import { toConnectionError } from '../../../../src/client/http/connection-error.ts'

const URL = 'https://api.example.com/v1/orders?cursor=abc'
const failed = (cause: Error) => toConnectionError(URL, new TypeError('fetch failed', { cause }))
const coded = (code: string, message: string) => Object.assign(new Error(message), { code })

describe('a call without a complete response', () => {
  it.each([
    ['UNABLE_TO_VERIFY_LEAF_SIGNATURE', /não é confiável.*proxy da empresa/],
    ['CERT_HAS_EXPIRED', /não é confiável.*relógio desta máquina/],
    ['CERT_NOT_YET_VALID', /não é confiável.*relógio desta máquina/],
    ['ERR_TLS_CERT_ALTNAME_INVALID', /não é confiável.*Confira o endereço/],
  ])(
    'a call without a complete response is final after %s, and names the next step',
    (code, message) => {
      expect(failed(coded(code, 'x'))).toMatchObject({
        isFinal: true,
        message: expect.stringMatching(message),
      })
    },
  )

  it('names the causes and the host, and no other part of the address', () => {
    const { message, isFinal } = failed(coded('ECONNREFUSED', ''))
    expect(message).toBe(
      'Nenhuma resposta inteira chegou de api.example.com (fetch failed: ECONNREFUSED). Confira a rede e o endereço.',
    )
    expect(isFinal).toBe(false)
  })

  it('a call without a complete response does not mistake a host name for a certificate error', () => {
    const fault = failed(coded('ENOTFOUND', 'getaddrinfo ENOTFOUND api.certo.CERT_x.invalid'))
    expect(failed(coded('ENOTFOUND', 'getaddrinfo ENOTFOUND api.certo.invalid')).isFinal).toBe(
      false,
    )
    expect(fault.message).toMatch(/Confira/)
  })

  it.each([
    coded('ERR_SSL_WRONG_VERSION_NUMBER', '40FD:error:0A00010B:SSL routines:wrong version number'),
    new Error('client error (Connect): received corrupt message of type InvalidContentType'),
  ])('names an https address of an http port: %s', (cause) => {
    expect(failed(cause)).toMatchObject({
      isFinal: true,
      message: expect.stringMatching(/^O endereço é https, mas api\.example\.com responde http/),
    })
  })

  it('reports a timeout', () => {
    const timeout = new DOMException('The operation was aborted', 'TimeoutError')
    expect(toConnectionError(URL, timeout).message).toMatch(/a resposta demorou demais/)
  })
})
