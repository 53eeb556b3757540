import { accessSync, constants, readFileSync, statfsSync } from 'node:fs'

const IN_MEMORY = '/dev/shm'
/** The indices of a whole test run and its temporary folders, several times over. */
const MIN_FREE_BYTES = 4 * 2 ** 30
const NO_PROGRAMS = 'noexec'

/**
 * A folder in memory with room for the temporary files of a test run, or `undefined`. A test
 * creates hundreds of indices and databases. On a disk each of them waits for about ten fsyncs.
 */
export function memoryFolder({
  path = IN_MEMORY,
  minFreeBytes = MIN_FREE_BYTES,
  mounts = readMounts,
} = {}): string | undefined {
  try {
    accessSync(path, constants.R_OK | constants.W_OK | constants.X_OK)
    const { bavail, bsize } = statfsSync(path)
    // Installers run programs from their temporary folder, and so does JNA.
    return bavail * bsize >= minFreeBytes && allowsPrograms(path, mounts()) ? path : undefined
  } catch {
    return undefined
  }
}

/**
 * Makes the folder in memory the temporary one of this process and its children, unless another is
 * set.
 */
export function keepTemporaryFilesInMemory(env: NodeJS.ProcessEnv): void {
  const folder = memoryFolder()
  if (folder !== undefined) env['TMPDIR'] ??= folder
}

const readMounts = () => readFileSync('/proc/self/mounts', 'utf8')

/** Lines of a mount table are device, folder, type and options; the last one for a folder holds. */
function allowsPrograms(path: string, mounts: string): boolean {
  const options = mounts
    .split('\n')
    .map((line) => line.split(' '))
    .findLast(([, folder]) => folder === path)?.[3]
  return options !== undefined && !options.split(',').includes(NO_PROGRAMS)
}
