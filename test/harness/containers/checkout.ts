import { cp, mkdir } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { outputOf } from './docker.ts'

const ROOT = fileURLToPath(new URL('../../../', import.meta.url))

const OF_IMAGE = ['package.json', 'package-lock.json', '.npmrc', 'tsconfig.json', 'src', 'openapi']

/**
 * Copies what a clone of this working tree would have: no `node_modules`, no `.env`, no data. What
 * the image copies is for its owner only, as under umask 077: the user of the image has another.
 */
export async function copyCheckout(target: string): Promise<void> {
  const listed = ['git', 'ls-files', '--cached', '--others', '--exclude-standard']
  const files = (await outputOf(listed, { cwd: ROOT })).split('\n')
  for (const file of files) {
    await mkdir(dirname(join(target, file)), { recursive: true })
    await cp(join(ROOT, file), join(target, file)).catch((error) => {
      if (error.code !== 'ENOENT') throw error // It is deleted, and the deletion not committed.
    })
  }
  await outputOf(['chmod', '-R', 'go=', ...OF_IMAGE.map((path) => join(target, path))])
}
