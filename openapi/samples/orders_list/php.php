<?php
// Lista os pedidos pagos até o fim. PHP 8 com a extensão curl.

function get(string $path, array $query): array
{
    for ($attempt = 0; ; $attempt++) {
        $headers = [];
        $curl = curl_init(getenv('ORDERS_API_URL') . $path . '?' . http_build_query($query));
        curl_setopt_array($curl, [
            CURLOPT_RETURNTRANSFER => true,
            CURLOPT_TIMEOUT => 30,
            CURLOPT_HTTPHEADER => ['Authorization: Bearer ' . getenv('ORDERS_API_KEY')],
            CURLOPT_HEADERFUNCTION => function ($curl, $line) use (&$headers) {
                [$name, $value] = explode(':', $line, 2) + [1 => ''];
                $headers[strtolower($name)] = trim($value);
                return strlen($line);
            },
        ]);
        $body = curl_exec($curl);
        $status = curl_getinfo($curl, CURLINFO_RESPONSE_CODE);
        if ($status === 200 && $body !== false) {
            return json_decode($body, true, flags: JSON_THROW_ON_ERROR);
        }
        // Só vale repetir 429, 5xx e conexões que falharam.
        // Espera o maior entre Retry-After e um tempo que dobra.
        $worthRepeating = $body === false || $status === 429 || $status >= 500;
        if (!$worthRepeating || $attempt === 5) {
            throw new RuntimeException("$status $body" . curl_error($curl));
        }
        sleep(max((int) ($headers['retry-after'] ?? 0), 2 ** $attempt));
    }
}

$query = ['status' => 'PAID', 'limit' => 100];
do {
    $page = get('/v1/orders', $query);
    foreach ($page['data'] as $order) {
        echo "{$order['id']} {$order['status']} ", $order['amount_total'] / 100, PHP_EOL;
    }
    $query['cursor'] = $page['next_cursor'];
} while ($page['has_more']);
