import { UsageError, WebhookVerificationError } from '../errors.ts'

/**
 * The key of a secret: the text after the prefix is base64.
 * @throws UsageError for a text that is no secret
 */
export function decodeSecret(secret: string | undefined): Uint8Array<ArrayBuffer> {
  const base64 = (secret ?? '').trim().replace(/^whsec_/, '')
  const isPossible = /^[A-Za-z0-9+/]{32,}={0,2}$/.test(base64) && base64.length % 4 === 0
  // The message omits the text, which may be a key in the wrong option.
  if (!isPossible) {
    throw new UsageError(
      'O segredo do endpoint não está inteiro: ele começa com whsec_ e continua em base64. Copie-o de novo, ou gere outro com webhooks roll-secret.',
    )
  }
  return Uint8Array.from(atob(base64), (character) => character.charCodeAt(0))
}

/**
 * The signatures of the known version, in base64. A comma before a space joins two headers, which a
 * proxy may make of one; the comma within `v1,…` has no space.
 * @throws WebhookVerificationError without one
 */
export function parseSignatures(header: string): string[] {
  const known = header.split(/,? +/).filter((signature) => signature.startsWith('v1,'))
  if (known.length > 0) return known.map((signature) => signature.slice('v1,'.length))
  throw new WebhookVerificationError(
    'unsupported_signature',
    'O cabeçalho webhook-signature não tem nenhuma assinatura v1. Atualize este pacote; uma requisição sem ela não vem desta API.',
  )
}

/** Whether a key signed the bytes. Compares every signature with every key. */
export async function hasValidSignature(
  signed: Uint8Array<ArrayBuffer>,
  signatures: readonly string[],
  keys: readonly Uint8Array<ArrayBuffer>[],
): Promise<boolean> {
  let isValid = false
  for (const key of keys) {
    const expected = await sign(signed, key)
    for (const signature of signatures) isValid = equals(signature, expected) || isValid
  }
  return isValid
}

async function sign(
  signed: Uint8Array<ArrayBuffer>,
  secret: Uint8Array<ArrayBuffer>,
): Promise<string> {
  const algorithm = { name: 'HMAC', hash: 'SHA-256' }
  const key = await crypto.subtle.importKey('raw', secret, algorithm, false, ['sign'])
  const digest = await crypto.subtle.sign('HMAC', key, signed)
  return btoa(String.fromCharCode(...new Uint8Array(digest)))
}

/** Compares in constant time: the duration says nothing about where two texts differ. */
function equals(text: string, expected: string): boolean {
  if (text.length !== expected.length) return false
  let difference = 0
  for (let at = 0; at < expected.length; at++) {
    difference |= text.charCodeAt(at) ^ expected.charCodeAt(at)
  }
  return difference === 0
}
