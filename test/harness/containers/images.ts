import { readFileSync } from 'node:fs'
import { parse } from 'yaml'
import { buildStandIn, hasStandIn, standInKey } from '../../../scripts/stand-ins/build.ts'
import type { Engine } from './engine.ts'

const REMEDY = 'Without a registry, scripts/stand-ins.ts builds stand-ins (docker/README.md).'

const read = (path: string) => readFileSync(new URL(`../../../${path}`, import.meta.url), 'utf8')
const baseOf = (name: string) => {
  const [, image] =
    new RegExp(`^FROM (\\S+) AS ${name}$`, 'm').exec(read('docker/Dockerfile')) ?? []
  if (image === undefined) throw new Error(`docker/Dockerfile has no stage ${name}`)
  return image
}

/** The base image of docker/Dockerfile. */
export const nodeImage: string = baseOf('base')

/** The images of docker-compose.yml by service, without those that are built. */
export const composeImages: Readonly<Record<string, string>> = Object.fromEntries(
  Object.entries<{ image?: string }>(
    parse(read('docker-compose.yml'), { merge: true }).services,
  ).flatMap(([service, { image }]) => (image === undefined ? [] : [[service, image]])),
)

/**
 * Makes the engine have these images: pulls them, or builds stand-ins on an engine of the tests.
 * Returns whether all are the real ones.
 * @throws Error when an image is neither there nor at a registry
 */
export async function provideImages(
  { docker, isOwn }: Engine,
  images: readonly string[],
): Promise<boolean> {
  const log = (line: string) => console.error(line)
  let areReal = true
  for (const image of new Set(images)) {
    const isThere = (await docker.attempt(['image', 'inspect', image])).code === 0
    const isStandIn = isThere && (await standInKey(docker, image)) !== undefined
    if (isThere && !isStandIn) continue
    const pulled = isThere ? undefined : await docker.attempt(['pull', '--quiet', image])
    if (pulled?.code === 0) continue
    areReal = false
    if (isThere && !isOwn) continue // Built by the developer.
    if (!isOwn || !hasStandIn(image)) {
      throw new Error(`${image} cannot be pulled: ${pulled?.stderr.trim()}. ${REMEDY}`)
    }
    await buildStandIn(docker, image, { nodeImage, log })
  }
  return areReal
}
