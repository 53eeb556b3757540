import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { copyCheckout } from '../harness/containers/checkout.ts'
import { buildImage, HARDENED, type ImageUnderTest } from '../support/containers/image.ts'
import { sourceOrder } from '../support/orders/source-order.ts'
import { temporaryFolder } from '../support/stores/backend.ts'

const BUILD_MS = 600_000
/** Several of its checks, of which Docker makes one in ten seconds. */
const HEALTHY = { timeout: 120_000 }
const checkout = temporaryFolder()
let image: ImageUnderTest
let service: string

beforeAll(async () => {
  await copyCheckout(checkout.folder)
  image = await buildImage(checkout.folder)
  service = await image.start(['serve', '--demo'])
}, BUILD_MS)
afterAll(async () => {
  await image[Symbol.asyncDispose]()
  checkout.remove()
}, BUILD_MS)

const inContainer = (script: string, ...args: string[]) =>
  image.docker('exec', service, 'node', '-e', script, ...args)
/** The status of a path of the service, as a process in its container receives it. */
const statusOf = (path: string) =>
  inContainer(`fetch('http://127.0.0.1:3000${path}').then(({ status }) => console.log(status))`)
const inspect = (format: string, container = service) =>
  image.docker('inspect', `--format=${format}`, container)

describe('the image', () => {
  it('becomes healthy by its own check of liveness', async () => {
    await expect.poll(() => inspect('{{.State.Health.Status}}'), HEALTHY).toBe('healthy')
  })

  it.each(['/openapi.json', '/docs', '/docs/recipes/python/pedidos.py', '/llms.txt'])(
    'serves %s from a checkout that only its owner could read',
    async (path) => {
      expect(await statusOf(path)).toBe('200')
    },
  )

  it('runs as user 1000 without capabilities, and gains no privileges', async () => {
    const status = await inContainer(
      "console.log(require('node:fs').readFileSync('/proc/self/status', 'utf8'))",
    )
    expect(status).toMatch(/^Uid:\t1000\t1000\t1000\t1000$/m)
    expect(status).toMatch(/^CapEff:\t0+$/m)
    expect(status).toMatch(/^CapBnd:\t0+$/m)
    expect(status).toMatch(/^NoNewPrivs:\t1$/m)
  })

  it('has a read-only file system, in which its user owns no file', async () => {
    const write = await image.docker.attempt(['exec', service, 'sh', '-c', 'echo >/app/file'])
    expect(write.stderr).toMatch(/Read-only file system/)
    expect(await image.docker('exec', service, 'find', '/app', '-user', '1000')).toBe('')
  })

  it('ends by SIGTERM with exit code 0 within the grace period of the compose file', async () => {
    const container = await image.start(['serve', '--demo'])
    await expect.poll(() => inspect('{{.State.Health.Status}}', container), HEALTHY).toBe('healthy')
    await image.docker('stop', '--time=20', container)
    expect(await inspect('{{.State.ExitCode}}', container)).toBe('0')
  })

  it('contains neither the development tools nor the orders command', async () => {
    const files = await image.docker('exec', service, 'sh', '-c', 'ls node_modules dist openapi')
    expect(files).toContain('fastify')
    expect(files).not.toMatch(/typescript|vitest|orders-cli/)
  })
})

describe('a command in the image', () => {
  const run = (args: readonly string[], input = '') =>
    image.docker.attempt(
      [
        'run',
        '--rm',
        '--interactive',
        ...HARDENED,
        '--env=DATA_DIR=/tmp/data',
        image.name,
        ...args,
      ],
      { input },
    )

  it('prints a new key alone on stdout', async () => {
    const { stdout, code } = await run(['keys', 'create', '--account', 'acc_1'])
    expect(code).toBe(0)
    expect(stdout).toMatch(/^key_live_\w+\n$/)
  })

  it('loads the orders that are piped into it', async () => {
    const lines = ['ord_1', 'ord_2'].map((id) => `${JSON.stringify(sourceOrder({ id }))}\n`)
    const { stdout, stderr, code } = await run(['index', 'load', '-'], lines.join(''))
    expect({ code, stderr }).toMatchObject({ code: 0 })
    expect(stdout).toMatch(/read: 2, .*refused: 0/)
  })

  it('exits with 2 after a usage error', async () => {
    expect(await run(['index', 'unknown'])).toMatchObject({ code: 2 })
  })
})
