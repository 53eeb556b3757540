/** A secret, and the name by which what it signed or derived refers to it. */
export interface NamedSecret {
  /** 1 to 16 characters of ASCII. */
  kid: string
  secret: Uint8Array
}

/** Secrets in rotation: the first signs or derives what is new, and all verify. */
export type NamedSecrets = readonly [NamedSecret, ...NamedSecret[]]
