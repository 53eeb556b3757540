import { cnpjWeights, withCheckDigits } from '../lib/check-digits.ts'
import type { Order } from './order.ts'

export type CustomerDocument = Pick<Order['customer'], 'document' | 'document_type'>

/** Typographic dashes and line breaks too, because buyers paste documents from other texts. */
const PUNCTUATION = /[./\-\u2010-\u2015\s]/g

/**
 * Drops punctuation. Digits are a CPF or CNPJ by their count alone, because old documents with wrong
 * check digits are in use. A CNPJ with letters needs right ones: other texts of 14 characters exist.
 */
export function parseCustomerDocument(text: string): CustomerDocument {
  const document = text.replaceAll(PUNCTUATION, '').toUpperCase()
  if (/^\d{11}$/.test(document)) return { document, document_type: 'CPF' }
  if (/^\d{14}$/.test(document) || isCnpjWithLetters(document)) {
    return { document, document_type: 'CNPJ' }
  }
  return { document: null, document_type: null }
}

function isCnpjWithLetters(document: string): boolean {
  if (!/^[0-9A-Z]{12}\d{2}$/.test(document)) return false
  return withCheckDigits(document.slice(0, 12), cnpjWeights) === document
}
