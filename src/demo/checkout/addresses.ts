import type { SourceOrder } from '../../indexing/projection/source-order.ts'
import type { ProductKind } from '../catalog.ts'
import type { Random } from '../random.ts'
import { personName } from './buyers.ts'

type Address = NonNullable<SourceOrder['shipping_address']>

// Columns: street, neighborhood, city, state, first digits of the postal code.
const streets = [
  ['Rua das Flores', 'Centro', 'Curitiba', 'PR', '80010'],
  ['Avenida Paulista', 'Bela Vista', 'São Paulo', 'SP', '01310'],
  ['Rua Barata Ribeiro', 'Copacabana', 'Rio de Janeiro', 'RJ', '22040'],
  ['Avenida Afonso Pena', 'Funcionários', 'Belo Horizonte', 'MG', '30130'],
  ['Rua da Aurora', 'Boa Vista', 'Recife', 'PE', '50050'],
  ['Avenida Sete de Setembro', 'Vitória', 'Salvador', 'BA', '40080'],
  ['Rua Padre Chagas', 'Moinhos de Vento', 'Porto Alegre', 'RS', '90570'],
  ['Avenida Beira Mar', 'Meireles', 'Fortaleza', 'CE', '60165'],
  ['Quadra 308 Sul', 'Asa Sul', 'Brasília', 'DF', '70355'],
  ['Rua Dez de Julho', 'Centro', 'Manaus', 'AM', '69010'],
] as const

const complements = ['Apto 42', 'Bloco B, apto 101', 'Casa 2', 'Sala 305', 'Fundos']

/** The delivery address of physical goods: in Brazil or, for an export, abroad. */
export function drawAddress(random: Random, kind: ProductKind, buyerName: string): Address | null {
  if (kind === 'physical') return brazilianAddress(random, buyerName)
  return kind === 'export' ? foreignAddress(random, buyerName) : null
}

function brazilianAddress(random: Random, buyerName: string): Address {
  const [line1, neighborhood, city, state, postalPrefix] = random.pick(streets)
  return {
    line1,
    line2: random.chance(0.05) ? 's/n' : String(random.between(1, 3000)),
    line3: random.chance(0.4) ? random.pick(complements) : null,
    neighborhood,
    city,
    state,
    country: 'BR',
    postal_code: postalPrefix + (random.chance(0.3) ? '-' : '') + random.digits(3),
    full_name: recipient(random, buyerName),
  }
}

function foreignAddress(random: Random, buyerName: string): Address {
  return {
    line1: 'Brickell Avenue',
    line2: String(random.between(100, 1900)),
    ...(random.chance(0.5) && { line3: `Unit ${random.between(100, 999)}` }),
    neighborhood: 'Brickell',
    city: 'Miami',
    state: 'FL',
    country: 'US',
    postal_code: '33131',
    full_name: recipient(random, buyerName),
  }
}

function recipient(random: Random, buyerName: string): string | null {
  if (random.chance(0.2)) return null
  return random.chance(0.15) ? personName(random) : buyerName
}
