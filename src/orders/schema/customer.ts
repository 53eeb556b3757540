import { nullable, oneOf, pattern, resource, text } from './types.ts'

export const Customer = resource('Customer', 'Comprador do pedido.', {
  name: text('Nome do comprador.', 'Ana Souza'),
  email: text('E-mail do comprador.', 'ana@exemplo.com.br'),
  phone: nullable(text('Telefone do comprador.', '+5511999990000')),
  document: nullable(
    pattern(
      '^(\\d{11}|[0-9A-Z]{12}\\d{2})$',
      'CPF (11 dígitos) ou CNPJ (14 caracteres: dígitos e, desde julho de 2026, letras maiúsculas nos 12 primeiros), sem pontuação. Sempre `null` com uma chave `orders:read_masked`.',
      '12345678909',
    ),
  ),
  document_type: nullable(
    oneOf(
      ['CPF', 'CNPJ'],
      'Decidido pelo tamanho de `document`; `null` quando o comprador não tem um. Uma chave `orders:read_masked` o vê sem o documento.',
      'CPF',
    ),
  ),
})

export const ShippingAddress = resource(
  'ShippingAddress',
  'Endereço de entrega informado no checkout.',
  {
    line1: text('Rua.', 'Rua das Flores'),
    line2: text('Número.', '100'),
    line3: nullable(text('Complemento.', 'apto 12')),
    neighborhood: text('Bairro.', 'Centro'),
    city: text('Cidade.', 'Curitiba'),
    state: text('Estado.', 'PR'),
    country: text('País.', 'BR'),
    postal_code: text('CEP.', '80010000'),
    full_name: nullable(text('Nome de quem recebe.', 'Ana Souza')),
  },
)
