import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { type AddressInfo, connect, createServer } from 'node:net'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { text } from 'node:stream/consumers'
import { finished } from 'node:stream/promises'
import { fileURLToPath } from 'node:url'
import {
  afterAll,
  afterEach,
  beforeAll,
  beforeEach,
  describe,
  expect,
  it,
  onTestFinished,
} from 'vitest'
import {
  type RunningService,
  runCommand,
  runProcess,
  serveInProcess,
  startCommand,
  startService,
} from '../../support/cli/command.ts'
import { readResponses } from '../../support/http/raw-http.ts'
import { temporaryFolder } from '../../support/stores/backend.ts'
import { createTestFolder } from '../../support/stores/test-folder.ts'

const keyIn = (stdout: string) => /key_live_\w+/.exec(stdout)?.[0] ?? ''

/** The JSON that a printed command line returns. */
async function runCurl(line: string): Promise<unknown> {
  const [, header = '', url = ''] = /^ +curl -s -H '([^']+)' '([^']+)'$/.exec(line) ?? []
  const [name = '', value = ''] = header.split(': ')
  return await (await fetch(url, { headers: { [name]: value } })).json()
}

it('serve --demo starts without a link to the console while its account is blocked', async () => {
  const folder = createTestFolder()
  const env = { DATA_DIR: folder, MANAGEMENT_PORT: '0', CONSOLE_PORT: '0' }
  await runCommand(['index', 'init'], env)
  await runCommand(['accounts', 'block', 'acc_demo'], env)
  const service = await serveInProcess(['--demo'], env)
  const { stdout } = service.output()
  await service.stop()
  expect(stdout).toMatch(/demo account +acc_demo\n/)
  expect(stdout).not.toContain('/painel#')
})

it.each([
  ['http://console.example', true],
  ['http://localhost.example:9002', true],
  ['https://console.example', false],
  ['http://a.localhost:9002', false],
  ['http://[::1]:9002', false],
])('serve with the console on %s warns of its cookie: %s', async (origin, isWarned) => {
  const folder = createTestFolder()
  const env = { DATA_DIR: folder, CONSOLE_PORT: '0', CONSOLE_URL: origin }
  await runCommand(['index', 'init'], env)
  const service = await serveInProcess([], env)
  const { stderr } = service.output()
  await service.stop()
  expect(stderr.includes('browsers refuse the cookie of the console')).toBe(isWarned)
})

it.each(['1', '2'])(
  'serve with %s workers is not ready before the management API listens',
  async (workers) => {
    const taken = createServer()
    onTestFinished(() => void taken.close())
    await once(taken.listen(0, '127.0.0.1'), 'listening')
    const { port } = taken.address() as AddressInfo
    const ports = { PORT: '0', OPERATIONS_PORT: '0', MANAGEMENT_PORT: `${port}` }
    const settings = { DATA_DIR: createTestFolder(), REDIS_URL: 'redis://127.0.0.1:1' }
    const { code, stderr } = await runProcess(['serve'], {
      ...ports,
      ...settings,
      WORKERS: workers,
    })
    expect(code).toBe(1)
    expect(stderr).toContain('MANAGEMENT_PORT')
    expect(stderr).not.toContain('operations at')
  },
)

it('serve --demo ends when the link to the console cannot be stored', async () => {
  const folder = createTestFolder()
  const env = { DATA_DIR: folder, PORT: '0', MANAGEMENT_PORT: '0', CONSOLE_PORT: '0' }
  await runCommand(['index', 'init'], env)
  const other = new DatabaseSync(join(folder, 'management.db'))
  onTestFinished(() => other.close())
  other.exec('BEGIN IMMEDIATE')
  const service = startCommand(['serve', '--demo'], { ...env, OPERATIONS_PORT: '0' })
  onTestFinished(() => void service.kill('SIGKILL'))
  const [stderr] = await Promise.all([text(service.stderr), once(service, 'exit')])
  expect(service.exitCode).toBe(1)
  expect(stderr).toContain('management.db: database is locked')
}, 30_000)

describe('serve --demo', () => {
  const { folder, remove } = temporaryFolder()
  let service: RunningService
  beforeAll(async () => {
    // Without Redis, each worker counts its rate limits locally.
    const settings = { DATA_DIR: folder, WORKERS: '2', REDIS_URL: 'redis://127.0.0.1:1' }
    const ports = { MANAGEMENT_PORT: '0', CONSOLE_PORT: '0' }
    service = await startService(['--demo'], { ...settings, ...ports })
  })
  afterAll(async () => {
    await service.stop('SIGKILL')
    remove()
  })

  it('prints a key, its account and three working curl lines', async () => {
    const { stdout } = service.output()
    expect(stdout.match(/demo key/g)).toHaveLength(1)
    expect(stdout).toMatch(/demo account\s+acc_demo\n/)
    const lines =
      stdout.match(/^ +curl -s -H 'Authorization: Bearer key_live_.*\/v1\/orders.*$/gm) ?? []
    expect(lines).toHaveLength(3)
    for (const line of lines) {
      expect(await runCurl(line)).toMatchObject({
        object: 'list',
        has_more: true,
        data: { length: 2 },
      })
    }
  })

  it('prints a working call of the management API', async () => {
    const [line = ''] = /^ +curl .*\/keys'$/m.exec(service.output().stdout) ?? []
    const { data } = (await runCurl(line)) as { data: { name: string; test: boolean }[] }
    const modes = new Map(data.map(({ name, test }) => [name, test]))
    expect(modes).toEqual(
      new Map([
        ['demo', false],
        ['demo sandbox', true],
      ]),
    )
  })

  it('prints a line that creates an order in the sandbox and reads it with its key', async () => {
    const line = /^ +curl .*sandbox-orders.*$/m.exec(service.output().stdout)?.[0] ?? ''
    const shell = spawn('sh', ['-c', line])
    let printed = ''
    shell.stdout.on('data', (chunk) => {
      printed += chunk
    })
    await once(shell, 'close')
    const [created, list] = printed.split('}{')
    const { id } = JSON.parse(`${created}}`)
    expect(JSON.parse(`{${list}`)).toMatchObject({ data: [{ id, status: 'AWAITING_PAYMENT' }] })
  })

  it('prints a link to the console that works once, and the call for another one', async () => {
    const { stdout } = service.output()
    const exchange = async (link: string) => {
      const { origin, hash } = new URL(link)
      const body = JSON.stringify({ token: hash.slice(1) })
      const headers = { origin, 'content-type': 'application/json' }
      return (await fetch(`${origin}/v1/session`, { method: 'POST', headers, body })).status
    }
    const [, link = ''] = /console +(\S+)/.exec(stdout) ?? []
    expect([await exchange(link), await exchange(link)]).toEqual([204, 401])

    const { url, body, headers } = sessionsCall(stdout)
    const created = await (await fetch(url, { method: 'POST', headers, body })).json()
    expect(await exchange((created as { url: string }).url)).toBe(204)
  })

  it('accepts a webhook endpoint on this machine', async () => {
    const { url, headers } = sessionsCall(service.output().stdout)
    const body = JSON.stringify({ url: 'http://127.0.0.1:4000/hooks' })
    const endpoints = url.replace(/sessions$/, 'webhook-endpoints')
    expect((await fetch(endpoints, { method: 'POST', headers, body })).status).toBe(201)
  })

  it('keeps its data and its key over a restart with fewer workers, and stores the key nowhere', async () => {
    const page = async ({ baseUrl, output }: RunningService) => {
      const key = keyIn(output().stdout)
      const headers = { authorization: `Bearer ${key}` }
      const response = await fetch(`${baseUrl}/v1/orders?limit=50`, { headers })
      return { key, body: await response.text() }
    }
    const before = await page(service)
    expect(await service.stop()).toBe(0)
    const again = await serveInProcess(['--demo'], { DATA_DIR: folder })
    expect(await page(again)).toEqual(before)
    expect(await again.stop()).toBe(0)

    expect(service.output().stderr + again.output().stderr).not.toContain(before.key)
    for (const file of readdirSync(folder)) {
      expect(readFileSync(join(folder, file), 'latin1'), file).not.toContain(before.key)
    }
  })

  it('serve --demo started by "npm start" ends when npm receives SIGTERM', async () => {
    const root = fileURLToPath(new URL('../../..', import.meta.url))
    const env = { ...process.env, DATA_DIR: folder, PORT: '0', OPERATIONS_PORT: '0' }
    const npm = spawn('npm', ['start'], { cwd: root, env })
    let stderr = ''
    npm.stderr.on('data', (chunk) => {
      stderr += chunk
    })
    await expect.poll(() => stderr, { timeout: 60_000 }).toContain('Server listening')
    const url = /Server listening at (http:[^"]+)/.exec(stderr)?.[1] ?? ''
    expect((await fetch(url)).status).toBe(404)
    npm.kill('SIGTERM')
    await once(npm, 'close')
    await expect(fetch(url)).rejects.toThrow()
  })
})

describe('serve', () => {
  let folder: string
  let running: RunningService | undefined
  beforeEach(() => {
    folder = createTestFolder()
    running = undefined
  })
  afterEach(async () => {
    await running?.stop()
  })

  async function serve(env: Record<string, string> = {}) {
    running = await serveInProcess([], { DATA_DIR: folder, ...env })
    return running
  }

  it('applies the changes of other commands while it runs', async () => {
    const env = { DATA_DIR: folder }
    const accounts = ['acc_blocked', 'acc_unblocked', 'acc_revoked']
    const keys = await Promise.all(
      accounts.map((account) => runCommand(['keys', 'create', '--account', account], env)),
    )
    await runCommand(['accounts', 'block', 'acc_unblocked'], env)
    const service = await startService([], env)
    onTestFinished(async () => void (await service.stop('SIGKILL')))
    const statuses = () =>
      Promise.all(
        keys.map(async ({ stdout }) => {
          const headers = { authorization: `Bearer ${stdout.trim()}` }
          return (await fetch(`${service.baseUrl}/v1/orders`, { headers })).status
        }),
      )
    expect(await statuses()).toEqual([200, 403, 200])
    await runCommand(['accounts', 'block', 'acc_blocked'], env)
    await runCommand(['accounts', 'unblock', 'acc_unblocked'], env)
    const listed = await runCommand(['keys', 'list', '--account', 'acc_revoked', '--json'], env)
    await runCommand(['keys', 'revoke', JSON.parse(listed.stdout)[0].key_id], env)
    await expect.poll(statuses, { interval: 300 }).toEqual([403, 200, 401])
  })

  it('completes a request in flight at SIGTERM, also when it receives two signals at once', async () => {
    const service = await startService([], { DATA_DIR: folder })
    onTestFinished(async () => void (await service.stop('SIGKILL')))
    const socket = connect(Number(new URL(service.baseUrl).port), '127.0.0.1')
    socket.write('GET /v1/orders HTTP/1.1\r\nHost: local')
    await new Promise((resolve) => setTimeout(resolve, 100))
    const stopped = [service.stop(), service.stop()]
    await expect.poll(() => service.output().stderr).toContain('"closing"')
    socket.write('host\r\n\r\n')
    const [answer] = await readResponses(socket)
    expect(answer?.status).toBe(401)
    expect(answer?.headers['connection']).toBe('close')
    expect(await Promise.all(stopped)).toEqual([0, 0])
  })

  it('stops immediately despite an open connection that never sent a request', async () => {
    const service = await serve()
    const socket = connect(Number(new URL(service.baseUrl).port), '127.0.0.1')
    await once(socket, 'connect')
    const closed = finished(socket.resume()).catch(() => {})
    expect(await service.stop()).toBe(0)
    await closed
  })

  it('keeps personal data from other users of the machine', async () => {
    const service = await serve()
    await service.stop()
    for (const file of readdirSync(folder)) {
      expect((statSync(join(folder, file)).mode & 0o777).toString(8), file).toBe('600')
    }
  })

  it('returns its health on the operations port only', async () => {
    const service = await startService([], { DATA_DIR: folder })
    onTestFinished(async () => void (await service.stop('SIGKILL')))
    const operations = /operations at (http:[^"]+)/.exec(service.output().stderr)?.[1]
    for (const path of ['/health/live', '/health/ready', '/metrics']) {
      expect((await fetch(`${operations}${path}`)).status, path).toBe(200)
      expect((await fetch(`${service.baseUrl}${path}`)).status, path).toBe(404)
    }
  })

  it('names every invalid setting at once, and exits 1', async () => {
    const { code, stderr } = await runProcess(['serve'], {
      DATA_DIR: folder,
      PORT: 'eighty',
      TRUST_PROXY: 'true',
      LOG_LEVEL: 'loud',
      KEY_PEPPER: 'short',
      WORKERS: '2',
      OPENSEARCH_URL: 'localhost:9200',
    })
    expect(code).toBe(1)
    for (const name of [
      'PORT',
      'TRUST_PROXY',
      'LOG_LEVEL',
      'KEY_PEPPER',
      'WORKERS',
      'OPENSEARCH_URL',
    ]) {
      expect(stderr).toContain(`${name}: `)
    }
    expect(stderr).not.toContain('short')
  })

  it('names the port in use and the setting that changes it', async () => {
    const { baseUrl } = await serve()
    const { port } = new URL(baseUrl)
    for (const setting of ['PORT', 'OPERATIONS_PORT']) {
      const ports = { PORT: '0', OPERATIONS_PORT: '0', [setting]: port }
      const { code, stderr } = await runCommand(['serve'], { DATA_DIR: folder, ...ports })
      expect(code).toBe(1)
      expect(stderr).toMatch(
        new RegExp(`cannot listen on .* EADDRINUSE.* Set HOST or ${setting}\\n`),
      )
    }
  })

  it('reads a .env file in its working directory', async () => {
    writeFileSync(join(folder, '.env'), 'PORT=nonsense\n')
    const { stderr } = await runProcess(['serve'], { DATA_DIR: folder })
    expect(stderr).toContain('PORT: expected an integer')
  })

  it('reads the first setting of a .env with a byte order mark', async () => {
    writeFileSync(join(folder, '.env'), '\ufeffPORT=nonsense\n')
    const { stderr } = await runProcess(['keys', 'list', '--account', 'a'], { DATA_DIR: folder })
    expect(stderr).toContain('PORT: expected an integer')
  })

  it('rejects a .env in UTF-16, whose settings it cannot read, and exits 1', async () => {
    writeFileSync(join(folder, '.env'), '\ufeffPORT=nonsense\n', 'utf16le')
    const { code, stderr } = await runProcess(['keys', '--help'], { DATA_DIR: folder })
    expect({ code, stderr }).toEqual({ code: 1, stderr: 'cannot read .env: it is not UTF-8\n' })
  })

  it('names a .env that it cannot read, and exits 1', async () => {
    mkdirSync(join(folder, '.env'))
    const { code, stderr } = await runProcess(['keys', '--help'], { DATA_DIR: folder })
    expect(code).toBe(1)
    expect(stderr).toMatch(/^cannot read \.env: .+\n$/)
  })
})

/** The call that the demo prints for a new link to the console. */
function sessionsCall(stdout: string) {
  const line = /^ +curl .*\/sessions'$/m.exec(stdout)?.[0] ?? ''
  const [, name = '', value = ''] = /-H '([^:]+): ([^']+)'/.exec(line) ?? []
  const [, body = '', url = ''] = /-d '(.+)' '(.+)'$/.exec(line) ?? []
  return { url, body, headers: { [name]: value, 'content-type': 'application/json' } }
}
