import { createPrivateKey, X509Certificate } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { errorText } from '../lib/errors/error-text.ts'

/**
 * Reads PEM certificates; `undefined` when no file is configured.
 * @throws Error with the setting and the file
 */
export function readCaFile(setting: string, file: string | undefined): string | undefined {
  return readPem(setting, file, 'certificate', (pem) => new X509Certificate(pem))
}

/** The same for a private key. */
export function readKeyFile(setting: string, file: string | undefined): string | undefined {
  return readPem(setting, file, 'private key', createPrivateKey)
}

function readPem(
  setting: string,
  file: string | undefined,
  content: string,
  assertContent: (pem: string) => unknown,
): string | undefined {
  if (file === undefined) return undefined
  try {
    const pem = readFileSync(file, 'utf8')
    assertContent(pem)
    return pem
  } catch (cause) {
    const reason = errorText(cause)
    throw new Error(`${setting}: cannot read a PEM ${content} from ${file}: ${reason}`, { cause })
  }
}
