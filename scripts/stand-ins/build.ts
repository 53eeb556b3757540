import { hash } from 'node:crypto'
import { cp, mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type Docker, outputOf } from '../../test/harness/containers/docker.ts'
import { BASE_IMAGE, ensureBase, SUITE } from './base.ts'
import { sources } from './sources.ts'

/** The label of a stand-in; its value is the hash of what it was built from. */
const LABEL = 'public-orders-api.stand-in'

const FOLDER = fileURLToPath(new URL('../../docker/stand-ins/', import.meta.url))
/** Debian's packages may be behind a proxy; Docker knows these arguments without a declaration. */
const PROXY_ARGUMENTS = ['HTTP_PROXY', 'HTTPS_PROXY', 'NO_PROXY']

/** Whether an image has a stand-in. */
export const hasStandIn = (image: string) => repositoryOf(image) in sources

/**
 * Builds the stand-in of an image under the name of that image, unless the engine has it already.
 * @throws Error when the image has no stand-in, or a tool is missing
 */
export async function buildStandIn(
  docker: Docker,
  image: string,
  { nodeImage, log }: { nodeImage: string; log(line: string): void },
): Promise<void> {
  const source = sources[repositoryOf(image)]
  if (source === undefined) throw new Error(`${image} has no stand-in in docker/stand-ins`)
  const folder = join(FOLDER, source.folder)
  const buildArgs = { ...(await source.buildArgs?.()), ...usesNode(source.folder, nodeImage) }
  const key = await contentKey(folder, [SUITE, image, JSON.stringify(buildArgs)])
  if ((await standInKey(docker, image)) === key) return

  await ensureBase(docker, log)
  log(`building a stand-in for ${image}`)
  const context = await mkdtemp(join(tmpdir(), 'orders-stand-in-'))
  try {
    await cp(folder, context, { recursive: true })
    await source.fill?.(context, tagOf(image))
    await outputOf(['chmod', '-R', 'a+rX', context]) // COPY keeps modes.
    const args = Object.entries(buildArgs).map(([name, value]) => `--build-arg=${name}=${value}`)
    const proxies = PROXY_ARGUMENTS.filter((name) => process.env[name])
    args.push(...proxies.map((name) => `--build-arg=${name}`), `--label=${LABEL}=${key}`)
    await docker('build', '--force-rm', ...args, '--tag', image, context)
  } finally {
    await rm(context, { recursive: true, force: true })
  }
}

/** The hash in the label of an image; `undefined` for a real image or none. */
export async function standInKey(docker: Docker, image: string): Promise<string | undefined> {
  const format = `{{index .Config.Labels "${LABEL}"}}`
  const { code, stdout } = await docker.attempt(['image', 'inspect', '--format', format, image])
  return code === 0 && stdout.trim() !== '' ? stdout.trim() : undefined
}

async function contentKey(folder: string, parts: readonly string[]): Promise<string> {
  const names = (await readdir(folder)).sort()
  const files = await Promise.all(names.map((name) => readFile(join(folder, name), 'utf8')))
  return hash('sha256', [BASE_IMAGE, ...parts, ...names, ...files].join('\n')).slice(0, 16)
}

const usesNode = (folder: string, nodeImage: string) =>
  folder === 'ryuk' ? { NODE_IMAGE: nodeImage } : {}

/** `redis` of `redis:8.10.1-trixie`. */
const repositoryOf = (image: string) => image.replace(/[:@].*$/, '')

/** `8.10.1-trixie` of `redis:8.10.1-trixie`. */
const tagOf = (image: string) => image.slice(repositoryOf(image).length + 1)
