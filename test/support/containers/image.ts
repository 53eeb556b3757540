import { randomUUID } from 'node:crypto'
import type { Docker } from '../../harness/containers/docker.ts'
import { type Engine, openEngine } from '../../harness/containers/engine.ts'
import { nodeImage, provideImages } from '../../harness/containers/images.ts'

const DOCKERFILE = 'docker/Dockerfile'
/** As docker-compose.yml runs the service. A test compares them. */
export const HARDENED = [
  ...['--read-only', '--tmpfs=/tmp', '--cap-drop=ALL', '--init'],
  '--security-opt=no-new-privileges:true',
] as const

/** The image of the service on an engine, removed at the end. */
export interface ImageUnderTest extends AsyncDisposable {
  readonly docker: Docker
  readonly name: string
  /** Starts a hardened container with an embedded store in memory. Returns its id. */
  start(args: readonly string[], flags?: readonly string[]): Promise<string>
}

/** Builds the image from the Dockerfile of `context`. */
export async function buildImage(context: string): Promise<ImageUnderTest> {
  await using stack = new AsyncDisposableStack()
  const engine: Engine = stack.use(await openEngine())
  const { docker } = engine
  await provideImages(engine, [nodeImage])
  const name = `public-orders-api-test:${randomUUID()}`
  const label = `public-orders-api.test=${name}`
  stack.defer(async () => {
    const left = await docker('ps', '--all', '--quiet', `--filter=label=${label}`)
    if (left !== '') await docker('rm', '--force', '--volumes', ...left.split('\n'))
    // The engine of the tests keeps the layers for the next file, and removes them after a day.
    await docker('rmi', '--force', ...(engine.isOwn ? ['--no-prune'] : []), name)
  })
  await docker('build', '--force-rm', '--file', `${context}/${DOCKERFILE}`, '--tag', name, context)
  const started = stack.move()
  return {
    docker,
    name,
    start: (args, flags = []) =>
      docker(
        ...['run', '--detach', `--label=${label}`, ...HARDENED, '--env=DATA_DIR=/tmp/data'],
        ...[...flags, name, ...args],
      ),
    [Symbol.asyncDispose]: () => started.disposeAsync(),
  }
}
