"""Train a bi-encoder of sentence-transformers on documents with grades, by its own Trainer and a loss of rankedu.

The texts are made here, and the weights begin at random, so nothing is downloaded. A number after the script's name
sets the epochs.
"""

import itertools
import random
import sys
import tempfile

import torch
from datasets import Dataset
from sentence_transformers import SentenceTransformer, SentenceTransformerTrainer, SentenceTransformerTrainingArguments
from sentence_transformers.sentence_transformer.modules import Pooling, Transformer
from transformers import BertConfig, BertModel, BertTokenizer

from rankedu.losses import NDCGLoss
from rankedu.metrics import ndcg
from rankedu.rankers import BlackboxRanker

epochs = int(sys.argv[1]) if len(sys.argv) > 1 else 8
torch.manual_seed(0), random.seed(0)
colours = {"red": "rot", "blue": "blau", "green": "grün", "white": "weiß", "black": "schwarz"}
things = {"house": "Haus", "tree": "Baum", "book": "Buch", "table": "Tisch", "bird": "Vogel"}
german = colours | things
phrases = random.sample(list(itertools.product(colours, things)), 25)


def lists(queries):
    """Your data goes here: a query, its eight documents, and the list of their grades, the words that agree."""
    for words in queries:
        found = random.sample([words, *random.choices(phrases, k=7)], 8)
        documents = {f"document {k}": f"{german[a]} {german[b]}" for k, (a, b) in enumerate(found)}
        grades = [sum(map(str.__eq__, words, others)) for others in found]
        yield {"query": " ".join(words), **documents, "label": grades}


def tiny_model(folder):
    """In a project of your own, SentenceTransformer("name of a model")."""
    vocabulary = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *german, *german.values()]
    sizes = {"hidden_size": 32, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 64}
    BertModel(BertConfig(vocab_size=len(vocabulary), **sizes)).save_pretrained(folder)
    BertTokenizer({word: k for k, word in enumerate(vocabulary)}, do_lower_case=False).save_pretrained(folder)
    return SentenceTransformer(modules=[Transformer(folder), Pooling(32)], device="cpu")


class OnTexts(torch.nn.Module):
    """A loss on the cosines of each query with its documents, called as the Trainer calls a loss."""

    def __init__(self, model, loss):
        super().__init__()
        self.model, self.loss = model, loss

    def forward(self, columns, grades):
        query, *documents = (self.model(column)["sentence_embedding"] for column in columns)
        return self.loss(torch.cosine_similarity(query[:, None], torch.stack(documents, dim=1), dim=-1), grades)


def accuracy():
    columns = [model.preprocess(list(test[name])) for name in test.column_names if name != "label"]
    with torch.no_grad():
        return OnTexts(model, ndcg)(columns, torch.tensor(list(test["label"]))).mean().item()


train, test = (Dataset.from_list(list(lists(8 * part))) for part in (phrases[:19], phrases[19:]))
with tempfile.TemporaryDirectory() as folder:
    model = tiny_model(folder)
    settings = {"num_train_epochs": epochs, "per_device_train_batch_size": 16, "learning_rate": 1e-3, "use_cpu": True}
    arguments = SentenceTransformerTrainingArguments(folder, report_to="none", save_strategy="no", **settings)
    loss = OnTexts(model, NDCGLoss(BlackboxRanker("auto"), margin=0.1))  # the one line that is rankedu's
    trainer = SentenceTransformerTrainer(model=model, args=arguments, train_dataset=train, loss=loss)
    before = accuracy()
    trainer.train()
after = accuracy()
print(f"{len(test)} lists of queries that training never saw; {epochs} epochs")
print(f"NDCG    {before:.2f} -> {after:.2f}")
