import { X509Certificate } from 'node:crypto'
import { readFileSync } from 'node:fs'

/**
 * Reads PEM certificates; `undefined` when no file is configured.
 * @throws Error with the setting and the file
 */
export function readCaFile(setting: string, file: string | undefined): string | undefined {
  if (file === undefined) return undefined
  try {
    const pem = readFileSync(file, 'utf8')
    new X509Certificate(pem)
    return pem
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause)
    throw new Error(`${setting}: cannot read a PEM certificate from ${file}: ${reason}`, { cause })
  }
}
