import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { makeCertificate } from '../../harness/services/certificate.ts'
import { FIRST_START_MS } from '../../harness/services/opensearch/opensearch.ts'
import { PASSWORD, type Role } from '../../harness/services/opensearch/security-plugin.ts'
import { startBackground } from '../../support/cli/background-process.ts'
import { runCommand, runProcess } from '../../support/cli/command.ts'
import { sourceOrder } from '../../support/orders/source-order.ts'
import { documentedRole, SERVICE_USER } from '../../support/secured/documented-role.ts'
import { without } from '../../support/secured/role-permissions.ts'
import { type SecuredCluster, startSecuredCluster } from '../../support/secured/secured-cluster.ts'

const role = documentedRole()
const LINE = `${JSON.stringify(sourceOrder())}\n`
const LOAD = ['index', 'load', '--live', '-']
const CREATE_KEY = ['keys', 'create', '--account', 'acc_1']

/** A permission, a command that needs it, and what its message names. */
const missing: readonly [permission: string, command: readonly string[]][] = [
  ['indices:admin/aliases/get', ['index', 'init']],
  ['indices:admin/index_template/put', ['index', 'init']],
  ['indices:data/read/mget', LOAD],
  ['indices:data/read/mget*', LOAD],
  ['indices:data/write/bulk', LOAD],
  ['indices:data/write/bulk*', LOAD],
  ['indices:data/write/index', CREATE_KEY],
  ['cluster:monitor/nodes/stats', LOAD],
  ['cluster:monitor/tasks/lists', LOAD],
  ['indices:data/read/search', ['index', 'status']],
  ['indices:monitor/stats', ['index', 'status']],
  ['indices:admin/create', ['index', 'reindex']],
  ['indices:data/read/point_in_time/create', ['index', 'check']],
]

let cluster: SecuredCluster
beforeAll(async () => {
  const limited = missing.map(([permission]): [string, Role] => [
    userWithout(permission),
    without(role, permission),
  ])
  const noPattern = without(role, 'shop-audit-log*')
  const roles = { [SERVICE_USER]: role, ...Object.fromEntries(limited), 'no-audit-log': noPattern }
  cluster = await startSecuredCluster(roles)
  const { code, stderr } = await runCommand(LOAD, cluster.env(SERVICE_USER), LINE)
  expect(code, stderr).toBe(0)
  await cluster.asAdmin('PUT', 'other-orders-v1', { aliases: { 'other-orders': {} } })
}, FIRST_START_MS)
afterAll(() => cluster.stop())

const userWithout = (permission: string) => `without-${permission.replace(/\W/g, '-')}`

describe('a user that lacks a permission', () => {
  it.each(missing)(
    'without %s, %j ends with a sentence that names it',
    async (permission, args) => {
      const env = cluster.env(userWithout(permission))
      const { code, stderr } = await runProcess(args, env, LINE)
      expect(code, stderr).toBe(1)
      expect(stderr).toContain(permission.replace('*', ''))
      expect(stderr).toContain('docker/stores.md')
      expect(stderr).not.toMatch(/^ +at /m)
    },
  )

  it('without the pattern of an index, a command names the permission and the user', async () => {
    const { code, stderr } = await runProcess(CREATE_KEY, cluster.env('no-audit-log'))
    expect(code).toBe(1)
    expect(stderr).toMatch(/no permissions for \[indices:[^\]]+\] and User \[name=no-audit-log/)
  })

  it('the user of the service may take no snapshot', async () => {
    const { status } = await cluster.send(SERVICE_USER, 'PUT', '_snapshot/backups/first')
    expect(status).toBe(403)
  })

  it('indices of another prefix cannot be read', async () => {
    const env = { ...cluster.env(SERVICE_USER), INDEX_PREFIX: 'other-' }
    const { code, stderr } = await runProcess(['index', 'status'], env)
    expect(code).toBe(1)
    expect(stderr).toMatch(/403 .*no permissions for \[indices:data\/read\/search\]/)
  })
})

describe('a connection that OpenSearch refuses', () => {
  it.each([[CREATE_KEY], [['index', 'status']], [LOAD]])(
    'with a wrong password, %j names OPENSEARCH_URL and not the password',
    async (args) => {
      const env = cluster.env(SERVICE_USER, 'wrong/password')
      const { code, stderr } = await runProcess(args, env, LINE)
      expect(code).toBe(1)
      expect(stderr).toContain('the user or the password in OPENSEARCH_URL')
      expect(stderr).not.toMatch(/wrong|^ +at /m)
    },
  )

  it('with the certificate of another authority, a command names OPENSEARCH_CA_FILE', async () => {
    const caFile = join(cluster.folder, 'another-ca.pem')
    await writeFile(caFile, (await makeCertificate()).ca)
    const env = { ...cluster.env(SERVICE_USER), OPENSEARCH_CA_FILE: caFile }
    const { code, stderr } = await runProcess(CREATE_KEY, env)
    expect(code).toBe(1)
    expect(stderr).toMatch(/^no response from OPENSEARCH_URL: .*certificate.*OPENSEARCH_CA_FILE/)
    expect(stderr).not.toContain(PASSWORD)
  })
})

describe('serve', () => {
  it.each([
    ['a wrong password', SERVICE_USER, 'wrong', 'the user or the password in OPENSEARCH_URL'],
    [
      'a missing permission',
      userWithout('indices:data/read/search'),
      PASSWORD,
      'no permissions for [indices:data/read/search]',
    ],
  ])('with %s, serve is not ready and logs the reason', async (_what, user, password, reason) => {
    const env = { ...cluster.env(user, password), PORT: '0' }
    const service = startBackground(['serve'], env)
    try {
      await expect.poll(() => service.operations('/health/ready')).toContain('unavailable')
      await expect.poll(() => service.output()).toContain(reason)
    } finally {
      expect(await service.stop()).toBe(0)
    }
  })
})
