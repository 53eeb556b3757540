import { generate } from 'selfsigned'

/** PEM texts. */
export interface Certificate {
  key: string
  cert: string
  /** The certificate of the signing authority, which no default trust store contains. */
  ca: string
}

export interface CertificateOptions {
  /** Default: `localhost`. */
  name?: string
  /** Then `ca` is the certificate itself. */
  isSelfSigned?: boolean
  notBeforeDate?: Date
  notAfterDate?: Date
}

/** A new certificate for a name and `127.0.0.1`. */
export async function makeCertificate({
  name = 'localhost',
  isSelfSigned = false,
  ...dates
}: CertificateOptions = {}): Promise<Certificate> {
  const common = { keyType: 'ec', algorithm: 'sha256' } as const
  const authority = await generate([{ name: 'commonName', value: 'Test authority' }], {
    ...common,
    extensions: [
      { name: 'basicConstraints', cA: true, critical: true },
      { name: 'keyUsage', keyCertSign: true, cRLSign: true, critical: true },
    ],
  })
  const own = await generate([{ name: 'commonName', value: name }], {
    ...common,
    ...dates,
    ...(!isSelfSigned && { ca: { key: authority.private, cert: authority.cert } }),
    extensions: [
      { name: 'basicConstraints', cA: false },
      {
        name: 'subjectAltName',
        altNames: [
          { type: 2, value: name },
          { type: 7, ip: '127.0.0.1' },
        ],
      },
    ],
  })
  return { key: own.private, cert: own.cert, ca: isSelfSigned ? own.cert : authority.cert }
}
