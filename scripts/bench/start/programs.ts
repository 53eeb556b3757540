import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { MAIN } from '../measuring/running-service.ts'

const ROOT = fileURLToPath(new URL('../../../', import.meta.url))
const BUILT = fileURLToPath(new URL('../../../dist/main.js', import.meta.url))

/** The programs of the service: as it is written, and compiled. */
export interface ServicePrograms {
  source: string
  /** Absent where the compiler refuses it. */
  built?: string
}

/** Compiles the service anew, as `npm run build` does. */
export async function buildPrograms(log: (text: string) => void): Promise<ServicePrograms> {
  log('compiling …')
  try {
    const args = ['run', '--silent', 'build']
    await promisify(execFile)('npm', args, { cwd: ROOT })
    return { source: MAIN, built: BUILT }
  } catch (error) {
    log(`it could not be compiled, so only the source is measured: ${error}`)
    return { source: MAIN }
  }
}
