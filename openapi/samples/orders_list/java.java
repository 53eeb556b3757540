// Lista os pedidos pagos até o fim e imprime uma página de JSON por linha.
// Java 17 ou mais novo, sem dependências: java Pedidos.java
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.util.regex.Pattern;

public class Pedidos {
    static final HttpClient HTTP =
            HttpClient.newBuilder().connectTimeout(Duration.ofSeconds(10)).build();

    /** O último valor deste nome: o da página, porque os pedidos podem ter campos iguais. */
    static String last(String name, String page) {
        var found = Pattern.compile("(?s).*\"" + name + "\": *\"?([^\",}]+)").matcher(page);
        if (!found.lookingAt()) {
            throw new IllegalStateException("Falta " + name + " na resposta. Confira ORDERS_API_URL.");
        }
        return found.group(1);
    }

    static String get(String path) throws Exception {
        var request = HttpRequest.newBuilder(URI.create(System.getenv("ORDERS_API_URL") + path))
                .header("Authorization", "Bearer " + System.getenv("ORDERS_API_KEY"))
                .timeout(Duration.ofSeconds(30))
                .build();
        for (int attempt = 0; ; attempt++) {
            var response = HTTP.send(request, BodyHandlers.ofString());
            int status = response.statusCode();
            if (status == 200) return response.body();
            // Só vale repetir 429 e 5xx. Espera o maior entre Retry-After e um tempo que dobra.
            boolean worthRepeating = status == 429 || status >= 500;
            if (!worthRepeating || attempt == 5) {
                throw new IllegalStateException(status + " " + response.body());
            }
            long retryAfter = response.headers().firstValueAsLong("Retry-After").orElse(0);
            Thread.sleep(1000 * Math.max(retryAfter, 1L << attempt));
        }
    }

    public static void main(String[] args) throws Exception {
        String cursor = "";
        while (true) {
            String page = get("/v1/orders?status=PAID&limit=100" + cursor);
            boolean hasMore = !last("has_more", page).equals("false");
            System.out.println(page);
            if (!hasMore) break;
            cursor = "&cursor=" + last("next_cursor", page);
        }
    }
}
