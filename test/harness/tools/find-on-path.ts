import { accessSync, constants, statSync } from 'node:fs'
import { delimiter, join } from 'node:path'

/** How long a program may take to print its version, on a busy machine. */
export const PROGRAM_CHECK_MS = 60_000

/** The first program of this name on the environment's path. */
export function findOnPath(name: string, env: NodeJS.ProcessEnv): string | undefined {
  const folders = (env['PATH'] ?? '').split(delimiter).filter((folder) => folder !== '')
  return folders.map((folder) => join(folder, name)).find(isProgram)
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return statSync(path).isFile()
  } catch {
    return false
  }
}
