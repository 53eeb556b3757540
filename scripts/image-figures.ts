import { readFile, writeFile } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import type { Docker } from '../test/harness/containers/docker.ts'
import { openEngine } from '../test/harness/containers/engine.ts'
import { nodeImage, provideImages } from '../test/harness/containers/images.ts'
import { standInKey } from './stand-ins/build.ts'

// Builds the image, measures its size and the start of the service in it, and writes both into
// docker/README.md: node scripts/image-figures.ts
const README = fileURLToPath(new URL('../docker/README.md', import.meta.url))
const LINE = /^The image has .*$/m
const NAME = 'public-orders-api-figures'
const STARTS = 5
const FLAGS = [
  '--read-only',
  '--tmpfs=/tmp',
  '--cap-drop=ALL',
  '--init',
  '--env=DATA_DIR=/tmp/data',
]

await using engine = await openEngine()
const { docker } = engine
await provideImages(engine, [nodeImage])
const isStandIn = (await standInKey(docker, nodeImage)) !== undefined
await docker('build', '--file', 'docker/Dockerfile', '--tag', NAME, '.')
try {
  const [whole = 0, base = 0] = await Promise.all(
    [NAME, nodeImage].map((it) => megabytes(docker, it)),
  )
  const starts: number[] = []
  for (let at = 0; at < STARTS; at++) starts.push(await startMs(docker))
  const median = starts.toSorted((a, b) => a - b)[Math.floor(STARTS / 2)] ?? 0
  const line =
    `The image has ${whole} MB, of which ${base} MB are its base${isStandIn ? ' (a stand-in)' : ''}. ` +
    `From \`docker run\` to the first response: ${(median / 1000).toFixed(1)} s (median of ${STARTS}).`
  await writeFile(README, (await readFile(README, 'utf8')).replace(LINE, line))
  console.log(line)
} finally {
  await docker('rmi', '--force', NAME)
}

async function megabytes(docker: Docker, image: string): Promise<number> {
  return Math.round(Number(await docker('image', 'inspect', '--format={{.Size}}', image)) / 1e6)
}

/** From the start of a container until it serves its own description, on the embedded store. */
async function startMs(docker: Docker): Promise<number> {
  const startedAt = performance.now()
  const published = ['--publish=127.0.0.1:0:3000']
  const id = await docker('run', '--detach', '--rm', ...FLAGS, ...published, NAME)
  const [address] = (await docker('port', id, '3000')).split('\n')
  while (
    !(await fetch(`http://${address}/openapi.json`).then(
      ({ ok }) => ok,
      () => false,
    ))
  ) {
    await sleep(10)
  }
  const elapsed = performance.now() - startedAt
  await docker('rm', '--force', id)
  return elapsed
}
