import { generate } from 'selfsigned'

/** PEM texts. */
export interface Certificate {
  key: string
  cert: string
  /** The certificate of the signing authority, which no default trust store contains. */
  ca: string
}

/** A new certificate for `localhost` and `127.0.0.1`. */
export async function makeCertificate(): Promise<Certificate> {
  const common = { keyType: 'ec', algorithm: 'sha256' } as const
  const authority = await generate([{ name: 'commonName', value: 'Test authority' }], {
    ...common,
    extensions: [
      { name: 'basicConstraints', cA: true, critical: true },
      { name: 'keyUsage', keyCertSign: true, cRLSign: true, critical: true },
    ],
  })
  const own = await generate([{ name: 'commonName', value: 'localhost' }], {
    ...common,
    ca: { key: authority.private, cert: authority.cert },
    extensions: [
      { name: 'basicConstraints', cA: false },
      {
        name: 'subjectAltName',
        altNames: [
          { type: 2, value: 'localhost' },
          { type: 7, ip: '127.0.0.1' },
        ],
      },
    ],
  })
  return { key: own.private, cert: own.cert, ca: authority.cert }
}
