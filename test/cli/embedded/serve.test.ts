import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import { finished } from 'node:stream/promises'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type RunningService, runCommand, startService } from '../../support/cli/command.ts'
import { readAnswers } from '../../support/http/raw-http.ts'
import { temporaryFolder } from '../../support/stores/backend.ts'

let folder: string
let remove: () => void
let running: RunningService[]
beforeEach(() => {
  ;({ folder, remove } = temporaryFolder())
  running = []
})
afterEach(async () => {
  for (const service of running) await service.stop('SIGKILL')
  remove()
})

async function serve(args: string[] = [], env: Record<string, string> = {}) {
  const service = await startService(args, { DATA_DIR: folder, ...env })
  running.push(service)
  return service
}

const keyIn = (stdout: string) => /key_live_\w+/.exec(stdout)?.[0] ?? ''

describe('serve --demo', () => {
  it('prints a key, its account and three curl lines that work when pasted', async () => {
    const { stdout } = (await serve(['--demo'])).output()
    expect(stdout).toMatch(/demo account\s+acc_demo\n/)
    const lines = stdout.match(/^ +curl .*$/gm) ?? []
    expect(lines).toHaveLength(3)
    for (const line of lines) {
      const [, header = '', url = ''] = /^ +curl -s -H '([^']+)' '([^']+)'$/.exec(line) ?? []
      const [name = '', value = ''] = header.split(': ')
      const answer = await (await fetch(url, { headers: { [name]: value } })).json()
      expect(answer).toMatchObject({ object: 'list', has_more: true, data: { length: 2 } })
    }
  })

  it('keeps its data and its key over a restart with fewer workers, and stores the key nowhere', async () => {
    const page = async ({ baseUrl, output }: RunningService) => {
      const key = keyIn(output().stdout)
      const headers = { authorization: `Bearer ${key}` }
      const response = await fetch(`${baseUrl}/v1/orders?limit=50`, { headers })
      return { key, body: await response.text() }
    }
    // Where no Redis is, each worker counts the limits by itself.
    const service = await serve(['--demo'], { WORKERS: '2', REDIS_URL: 'redis://127.0.0.1:1' })
    expect(service.output().stdout.match(/demo key/g)).toHaveLength(1)
    const before = await page(service)
    expect(await service.stop()).toBe(0)
    const again = await serve(['--demo'])
    expect(await page(again)).toEqual(before)

    expect(service.output().stderr + again.output().stderr).not.toContain(before.key)
    for (const file of readdirSync(folder)) {
      expect(readFileSync(join(folder, file), 'latin1'), file).not.toContain(before.key)
    }
  })
})

describe('npm start', () => {
  it('ends when npm is told to end', async () => {
    const root = fileURLToPath(new URL('../..', import.meta.url))
    const env = { ...process.env, DATA_DIR: folder, PORT: '0', OPERATIONS_PORT: '0' }
    const npm = spawn('npm', ['start'], { cwd: root, env })
    let stderr = ''
    npm.stderr.on('data', (chunk) => {
      stderr += chunk
    })
    await expect.poll(() => stderr, { timeout: 20_000 }).toContain('Server listening')
    const url = /Server listening at (http:[^"]+)/.exec(stderr)?.[1] ?? ''
    expect((await fetch(url)).status).toBe(404)
    npm.kill('SIGTERM')
    await once(npm, 'close')
    await expect(fetch(url)).rejects.toThrow()
  })
})

describe('serve', () => {
  it('sees what the other commands do while it runs', async () => {
    const { baseUrl } = await serve()
    const env = { DATA_DIR: folder }
    const key = (await runCommand(['keys', 'create', '--account', 'acc_1'], env)).stdout.trim()
    const status = async () => {
      const headers = { authorization: `Bearer ${key}` }
      return (await fetch(`${baseUrl}/v1/orders`, { headers })).status
    }
    expect(await status()).toBe(200)
    await runCommand(['accounts', 'block', 'acc_1'], env)
    await expect.poll(status, { timeout: 7_000, interval: 300 }).toBe(403)
    await runCommand(['accounts', 'unblock', 'acc_1'], env)
    await expect.poll(status, { timeout: 7_000, interval: 300 }).toBe(200)
    const keys = await runCommand(['keys', 'list', '--account', 'acc_1', '--json'], env)
    await runCommand(['keys', 'revoke', JSON.parse(keys.stdout)[0].key_id], env)
    await expect.poll(status, { timeout: 7_000, interval: 300 }).toBe(401)
  })

  it('finishes a request that is under way when it is told to stop, also twice at once', async () => {
    const service = await serve()
    const socket = connect(Number(new URL(service.baseUrl).port), '127.0.0.1')
    socket.write('GET /v1/orders HTTP/1.1\r\nHost: local')
    await new Promise((resolve) => setTimeout(resolve, 100))
    const stopped = [service.stop(), service.stop()]
    await new Promise((resolve) => setTimeout(resolve, 100))
    socket.write('host\r\n\r\n')
    const [answer] = await readAnswers(socket)
    expect(answer?.status).toBe(401)
    expect(answer?.headers['connection']).toBe('close')
    expect(await Promise.all(stopped)).toEqual([0, 0])
  })

  it('stops at once although a connection is open that never sent anything', async () => {
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

  it('answers for its health on the operations port alone', async () => {
    const service = await serve([], { OPERATIONS_PORT: '0' })
    const operations = /operations at (http:[^"]+)/.exec(service.output().stderr)?.[1]
    for (const path of ['/health/live', '/health/ready', '/metrics']) {
      expect((await fetch(`${operations}${path}`)).status, path).toBe(200)
      expect((await fetch(`${service.baseUrl}${path}`)).status, path).toBe(404)
    }
  })

  it('names every bad setting at once, and exits 1', async () => {
    const { code, stderr } = await runCommand(['serve'], {
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

  it('says which port is taken, and by which setting to choose another', async () => {
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

  it('reads a file .env in the folder it starts in', async () => {
    writeFileSync(join(folder, '.env'), 'PORT=nonsense\n')
    const { stderr } = await runCommand(['serve'], { DATA_DIR: folder })
    expect(stderr).toContain('PORT: expected an integer')
  })
})
