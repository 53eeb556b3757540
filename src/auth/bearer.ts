/**
 * The credential of an `Authorization` header: the scheme in any case, one space, the key (contract,
 * "Authentication" 1). `undefined` for anything else.
 */
export function bearerCredential(header: string): string | undefined {
  return /^bearer ([^\s]+)$/i.exec(header)?.[1]
}
