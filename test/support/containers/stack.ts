import { Agent, request } from 'undici'
import { copyCheckout } from '../../harness/containers/checkout.ts'
import { type Compose, openCompose, PROJECT } from '../../harness/containers/compose.ts'
import type { Docker } from '../../harness/containers/docker.ts'
import { openEngine } from '../../harness/containers/engine.ts'
import { composeImages, nodeImage, provideImages } from '../../harness/containers/images.ts'
import { poll } from '../../harness/processes/poll.ts'
import { temporaryFolder } from '../stores/backend.ts'

const { grafana, ...otherImages } = composeImages
const LISTED = '[0-9a-zA-Z_]+'
const PRINT_MS = 60_000

/** docker-compose.yml, started from a fresh copy of the project. */
export interface Stack extends AsyncDisposable {
  readonly docker: Docker
  readonly compose: Compose
  /** Whether every image comes from a registry, so that Grafana is there too. */
  readonly areImagesReal: boolean
  /** Starts all services but those of the monitoring, as `docker compose up --build` does. */
  up(): Promise<void>
  /** The key that `up` prints. */
  demoKey(): Promise<string>
  /** The ids of all its containers, networks or volumes. */
  list(kind: 'container' | 'network' | 'volume'): Promise<string[]>
}

/** Opens the project without starting its services. Removes what the test started at the end. */
export async function openStack(): Promise<Stack> {
  await using stack = new AsyncDisposableStack()
  const { folder, remove } = temporaryFolder()
  stack.defer(remove)
  const engine = stack.use(await openEngine())
  const { docker } = engine
  const withoutGrafana = [nodeImage, ...Object.values(otherImages)]
  const areImagesReal = await provideImages(engine, withoutGrafana)
  if (areImagesReal) await provideImages(engine, [String(grafana)])
  await copyCheckout(folder)
  const compose = await openCompose(docker, folder)
  const down = async () => {
    await compose('--profile', 'monitoring', 'down', '--volumes', '--remove-orphans')
  }
  await down() // A killed run may have left some, on an engine that is not of the tests.
  stack.defer(async () => {
    await down()
    const built = await docker('images', '--quiet', `--filter=reference=${PROJECT}*`)
    const flags = ['--force', ...(engine.isOwn ? ['--no-prune'] : [])]
    if (built !== '') await docker('rmi', ...flags, ...new Set(built.split('\n')))
  })

  const started = stack.move()
  return {
    docker,
    compose,
    areImagesReal,
    async up() {
      await compose('up', '--detach', '--build')
    },
    async demoKey() {
      const read = () => compose('logs', '--no-color', 'api')
      const keyIn = (log: string) =>
        new RegExp(`export ORDERS_API_KEY=(key_live_${LISTED})`).exec(log)?.[1]
      // The API is healthy a moment before it prints.
      await poll(
        async () => keyIn(await read()) !== undefined,
        async () => `the API printed no key:\n${await read()}`,
        { timeoutMs: PRINT_MS, intervalMs: 200, shouldAbort: () => false },
      )
      return String(keyIn(await read()))
    },
    async list(kind) {
      const label = `label=com.docker.compose.project=${PROJECT}`
      const all = kind === 'container' ? ['--all'] : []
      const ids = await docker(kind, 'ls', ...all, '--quiet', `--filter=${label}`)
      return ids.split('\n').filter((id) => id !== '')
    },
    [Symbol.asyncDispose]: () => started.disposeAsync(),
  }
}

// The edge creates its certificate at every start.
const dispatcher = new Agent({ connect: { rejectUnauthorized: false } })

/** A GET; with the host of `headers`, if they have one. */
export async function get(url: string, headers: Record<string, string> = {}) {
  const { statusCode, body } = await request(url, { headers, dispatcher })
  return { status: statusCode, text: await body.text() }
}

/** The same, with status 0 while nothing responds: for polls during a start or an outage. */
export async function tryGet(url: string, headers: Record<string, string> = {}) {
  return await get(url, headers).catch(() => ({ status: 0, text: '' }))
}
