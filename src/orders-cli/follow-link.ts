import { readlink, realpath } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import { CommandError } from './errors.ts'

/** As many as Linux follows. */
const MAX_LINKS = 40

/**
 * The file that a symbolic link names, also one that does not exist yet: the final rename of an
 * export would replace the link, and each name would have a lock of its own. Any other file: as
 * typed.
 * @throws CommandError if the links form a cycle
 */
export async function followLink(file: string, cwd: string): Promise<string> {
  let path = resolve(cwd, file)
  const existing = await realpath(path).catch(() => null)
  for (let links = 0; links <= MAX_LINKS; links++) {
    const next = await readlink(path).catch(() => null)
    if (next === null) return links === 0 ? file : path
    // A link starts at its real folder, which a path through a linked folder does not name.
    path = existing ?? resolve(await realpath(dirname(path)), next)
  }
  throw new CommandError(
    `${file} é um link simbólico que faz parte de um ciclo. Apague-o, ou escolha outro nome.`,
  )
}
