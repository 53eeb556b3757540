import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Docker, outputOf } from '../../test/harness/containers/docker.ts'

/** The release of the images that the Dockerfile and the compose file name. */
export const SUITE = 'trixie'
export const BASE_IMAGE = 'public-orders-api/stand-in-debian'
/** As the slim images of Debian, which have no documentation and no translations. */
const LEFT_OUT = [
  ...['var/cache/apt', 'var/lib/apt/lists', 'var/log'],
  ...['doc', 'info', 'lintian', 'locale', 'man'].map((folder) => `usr/share/${folder}`),
]

/** Builds the base of all stand-ins from Debian's packages, unless the engine has it. */
export async function ensureBase(docker: Docker, log: (line: string) => void): Promise<void> {
  const name = `${BASE_IMAGE}:latest`
  if ((await docker.attempt(['image', 'inspect', name])).code === 0) return
  log(`building ${name} with debootstrap`)
  const work = await mkdtemp(join(tmpdir(), 'orders-stand-in-'))
  try {
    const root = join(work, 'root')
    const archive = join(work, 'root.tar')
    await outputOf(['debootstrap', '--variant=minbase', SUITE, root])
    const excluded = LEFT_OUT.map((path) => `--exclude=./${path}/*`)
    await outputOf(['tar', '-C', root, ...excluded, '-cf', archive, '.'])
    await docker('import', archive, name)
  } finally {
    await rm(work, { recursive: true, force: true })
  }
}
