import java.io.IOException;
import java.nio.file.Path;
import java.util.Map;
import org.opensearch.common.settings.Settings;
import org.opensearch.env.Environment;
import org.opensearch.node.InternalSettingsPreparer;
import org.opensearch.node.Node;

/**
 * Runs a node until SIGTERM or the end of standard input, which comes when the parent process ends,
 * however it ends. The settings are in config/opensearch.yml of the home folder.
 */
final class Launcher {
    private static final long CLOSE_MS = 10_000;

    public static void main(String[] arguments) throws InterruptedException {
        endWithParent();
        try {
            start(Path.of(arguments[0]));
        } catch (Throwable error) {
            error.printStackTrace();
            System.exit(1); // threads of a node that started in part keep the process alive
        }
        Thread.currentThread().join();
    }

    private static void start(Path home) throws Exception {
        Settings settings = Settings.builder().put("path.home", home).build();
        Environment environment =
                InternalSettingsPreparer.prepareEnvironment(
                        settings, Map.of(), home.resolve("config"), () -> "node");
        Node node = new Node(environment);
        Runtime.getRuntime().addShutdownHook(new Thread(() -> close(node)));
        node.start();
    }

    private static void endWithParent() {
        Thread watcher = new Thread(Launcher::waitForEndOfInput, "parent-watcher");
        watcher.setDaemon(true);
        watcher.start();
    }

    private static void waitForEndOfInput() {
        try {
            while (System.in.read() >= 0) {}
        } catch (IOException error) {
            System.err.println("standard input: " + error);
        }
        haltAfter(CLOSE_MS);
        System.exit(0);
    }

    /** For a node that does not close; nobody is there any more to kill it. */
    private static void haltAfter(long milliseconds) {
        Thread halt =
                new Thread(
                        () -> {
                            try {
                                Thread.sleep(milliseconds);
                            } catch (InterruptedException error) {
                                Thread.currentThread().interrupt();
                            }
                            Runtime.getRuntime().halt(1);
                        });
        halt.setDaemon(true);
        halt.start();
    }

    private static void close(Node node) {
        try {
            node.close();
        } catch (IOException error) {
            System.err.println("close: " + error);
        }
    }
}
