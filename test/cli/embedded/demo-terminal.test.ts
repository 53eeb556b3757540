import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { runShell, startOnTerminal } from '../../support/orders-cli/orders-cli.ts'
import { createTestFolder } from '../../support/stores/test-folder.ts'

const MAIN = fileURLToPath(new URL('../../../src/main.ts', import.meta.url))
const SERVE = `"${process.execPath}" "${MAIN}" serve`
const DEMO = `${SERVE} --demo`
/** The end of the welcome text. */
const WELCOME = '/openapi.json'
const INTERRUPT = '\x03'
const START = { timeout: 60_000 }
/** Without Redis, each worker counts its rate limits locally. */
const TWO_WORKERS = { WORKERS: '2', REDIS_URL: 'redis://127.0.0.1:1' }

describe('serve --demo on a terminal', () => {
  let folder: string
  beforeEach(() => {
    folder = createTestFolder()
  })

  /** Starts a shell command on a terminal, and waits until it shows `ready`. */
  async function start(line: string, env: Record<string, string> = {}, ready = WELCOME) {
    const ports = { PORT: '0', OPERATIONS_PORT: '0', MANAGEMENT_PORT: '0', CONSOLE_PORT: '0' }
    const child = startOnTerminal(line, {
      cwd: folder,
      env: { DATA_DIR: folder, ...ports, ...env },
    })
    const closed = once(child, 'close')
    onTestFinished(() => void child.kill('SIGKILL'))
    let screen = ''
    child.stdout.on('data', (chunk) => {
      screen += chunk
    })
    await expect.poll(() => screen, START).toContain(ready)
    return {
      screen: () => screen.replaceAll('\r\n', '\n'),
      /** Types Ctrl-C, and waits until everything is written. */
      async interrupt() {
        child.stdin.write(INTERRUPT)
        await closed
      },
    }
  }

  /** Pastes the printed `export` lines, and sends requests that the log would report. */
  async function sendRequests(screen: string): Promise<string> {
    const exports = screen.match(/^ +export .*$/gm) ?? []
    const call = (key: string) =>
      `curl -s -H "Authorization: Bearer ${key}" "$ORDERS_API_URL/v1/orders?limit=1"`
    const lines = [...exports, call('$ORDERS_API_KEY'), call('wrong')]
    const { stdout } = await runShell(lines.join('\n'), { cwd: folder, env: {} })
    return stdout
  }

  const STATUSES = /"status":\d+/g

  it.each<[string, Record<string, string>]>([
    ['one process', {}],
    ['two workers', TWO_WORKERS],
  ])(
    'the demo of %s prints export lines that work, and no line per request',
    async (_name, env) => {
      const { screen, interrupt } = await start(DEMO, env)
      const answers = await sendRequests(screen())
      expect(answers).toMatch(/"object":"list".*"invalid_api_key"/)
      await interrupt()
      expect(
        screen()
          .match(/^ +export \w+/gm)
          ?.map((line) => line.trim()),
      ).toEqual(['export ORDERS_API_URL', 'export ORDERS_API_KEY'])
      expect(screen()).toContain('LOG_LEVEL=info')
      expect(screen()).not.toMatch(STATUSES)
      expect(screen()).not.toContain('Server listening')
    },
  )

  it('LOG_LEVEL decides what the demo logs on a terminal', async () => {
    const { screen, interrupt } = await start(DEMO, { LOG_LEVEL: 'info' })
    await sendRequests(screen())
    await interrupt()
    expect(screen().match(STATUSES)).toEqual(['"status":200', '"status":401'])
    expect(screen()).not.toContain('LOG_LEVEL')
  })

  it('the demo logs every request when only its stdout is a terminal', async () => {
    const { screen, interrupt } = await start(`${DEMO} 2>log`)
    await sendRequests(screen())
    await interrupt()
    const log = readFileSync(join(folder, 'log'), 'utf8')
    expect(log.match(STATUSES)).toEqual(['"status":200', '"status":401'])
    expect(screen()).not.toContain('LOG_LEVEL')
  })

  it('serve without demo orders logs every request on a terminal', async () => {
    const { screen, interrupt } = await start(SERVE, {}, 'operations at')
    const [, url] = /Server listening at (http:[^"]+)/.exec(screen()) ?? []
    expect((await fetch(`${url}/v1/orders`)).status).toBe(401)
    await expect.poll(() => screen().match(STATUSES)).toEqual(['"status":401'])
    await interrupt()
  })
})
