import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { makeCertificate } from '../../../harness/services/certificate.ts'
import { runCommand } from '../../../support/cli/command.ts'
import { startTlsProxy } from '../../../support/http/tls-proxy.ts'
import { type Backend, createBackend } from '../../../support/stores/backend.ts'

let backend: Backend
let tlsProxy: Awaited<ReturnType<typeof startTlsProxy>>
let env: Record<string, string>
let caFile: string
beforeAll(async () => {
  backend = createBackend()
  const certificate = await makeCertificate()
  const [node = ''] = (process.env['OPENSEARCH_URL'] ?? '').split(',')
  tlsProxy = await startTlsProxy(Number(new URL(node).port), certificate)
  caFile = join(backend.folder, 'ca.pem')
  writeFileSync(caFile, certificate.ca)
  env = { ...backend.env, OPENSEARCH_URL: `https://localhost:${tlsProxy.port}` }
})
afterAll(async () => {
  tlsProxy.close()
  await backend.remove()
})

const createKey = (settings: Record<string, string>) =>
  runCommand(['keys', 'create', '--account', 'acc_1'], { ...env, ...settings })

describe('an OpenSearch behind TLS', () => {
  it('a command that trusts the certificate authority succeeds', async () => {
    const { code, stdout, stderr } = await createKey({ OPENSEARCH_CA_FILE: caFile })
    expect(code, stderr).toBe(0)
    expect(stdout).toMatch(/^key_live_/)
  })

  it('a command that does not trust the certificate authority names the certificate as the cause', async () => {
    const { code, stdout, stderr } = await createKey({})
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
    expect(stderr).toMatch(/^no response from OPENSEARCH_URL: .*certificate/)
  })

  it.each([
    ['is missing', 'nowhere.pem', ''],
    ['contains no certificate', 'empty.pem', 'not a certificate'],
  ])('a file of authorities that %s is named with its setting', async (_why, name, content) => {
    const file = join(backend.folder, name)
    if (content) writeFileSync(file, content)
    const { code, stderr } = await createKey({ OPENSEARCH_CA_FILE: file })
    expect(code).toBe(1)
    expect(stderr).toContain(`OPENSEARCH_CA_FILE: cannot read a PEM certificate from ${file}`)
  })
})
