import { describe, expect, it, onTestFinished } from 'vitest'
import { createDnsResolver } from '../../../../../src/webhooks/sending/egress/resolve-host.ts'
import { type DnsAnswer, startDnsServer } from '../../../../support/webhooks/sending/dns-server.ts'
import { openSender } from '../../../../support/webhooks/sending/sender.ts'

const NAME = 'receiver.example'

async function openResolver(answer: DnsAnswer, ipv6Answer = answer) {
  const server = await startDnsServer({ [NAME]: answer, [`${NAME} AAAA`]: ipv6Answer })
  onTestFinished(() => server.close())
  return { resolve: createDnsResolver([server.address]), server }
}

describe('the resolution of a host by DNS', () => {
  it.each<[string, string[]]>([
    ['IPv4', ['8.8.8.8', '8.8.4.4']],
    ['IPv6', ['2606:4700::1111']],
    ['both families', ['8.8.8.8', '2606:4700::1111']],
  ])('a name with %s resolves to all its addresses', async (_, addresses) => {
    const { resolve } = await openResolver(addresses)
    expect([...(await resolve(NAME))].sort()).toEqual([...addresses].sort())
  })

  it.each<[DnsAnswer, string]>([
    ['no such name', 'the host name does not resolve'],
    [[], 'the host name does not resolve'],
    ['failure', 'the name servers of the host do not respond'],
    ['silence', 'the name servers of the host do not respond'],
  ])('the answer %j of the name server is a failure: %s', async (answer, error) => {
    const { resolve } = await openResolver(answer)
    const sender = openSender({ allow: [], connectTimeoutMs: 30_000, resolve })
    expect(await sender.post(`https://${NAME}/`)).toMatchObject({ status: null, error })
  })

  it('a failure for one family leaves the addresses of the other', async () => {
    const { resolve } = await openResolver(['8.8.8.8'], 'failure')
    expect(await resolve(NAME)).toEqual(['8.8.8.8'])
  })

  it('a failure for one family is reported when the other has no record', async () => {
    const { resolve } = await openResolver([], 'failure')
    await expect(resolve(NAME)).rejects.toMatchObject({ code: 'ESERVFAIL' })
  })

  it('a private address in one family refuses the name', async () => {
    const { resolve } = await openResolver(['8.8.8.8', '::1'])
    const sender = openSender({ allow: [], resolve })
    expect(await sender.post(`https://${NAME}/`)).toMatchObject({
      error: 'the host name resolves to an address that is not public',
    })
  })

  it('the hosts file is not read', async () => {
    const { resolve, server } = await openResolver([])
    await expect(resolve('localhost')).rejects.toMatchObject({ code: 'ENOTFOUND' })
    expect(server.queries).toContain('localhost')
  })
})
